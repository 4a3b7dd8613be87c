package lab

import "context"

// try runs a role just to find out whether it can be played here.
func (p *Plan) try(role string, s setup) error {
	cpus, err := allowedCPUs()
	if err != nil {
		return err
	}
	s.Plan, s.Others, s.Try = *p, cpus, true
	ch := &child{role: role, command: p.command(), cpu: cpus[0]}
	if err := ch.start(context.Background(), s); err != nil {
		return err
	}
	return ch.wait()
}
