package stats

import (
	"math/big"
	"testing"
)

// NIST's statistical reference data: a beam's deflections and a filter's
// transmittance.
var (
	lew = []float64{
		-213, -564, -35, -15, 141, 115, -420, -360, 203, -338, -431, 194, -220, -513, 154, -125, -559, 92, -21, -579,
		-52, 99, -543, -175, 162, -457, -346, 204, -300, -474, 164, -107, -572, -8, 83, -541, -224, 180, -420, -374,
		201, -236, -531, 83, 27, -564, -112, 131, -507, -254, 199, -311, -495, 143, -46, -579, -90, 136, -472, -338,
		202, -287, -477, 169, -124, -568, 17, 48, -568, -135, 162, -430, -422, 172, -74, -577, -13, 92, -534, -243,
		194, -355, -465, 156, -81, -578, -64, 139, -449, -384, 193, -198, -538, 110, -44, -577, -6, 66, -552, -164,
		161, -460, -344, 205, -281, -504, 134, -28, -576, -118, 156, -437, -381, 200, -220, -540, 83, 11, -568, -160,
		172, -414, -408, 188, -125, -572, -32, 139, -492, -321, 205, -262, -504, 142, -83, -574, 0, 48, -571, -106,
		137, -501, -266, 190, -391, -406, 194, -186, -553, 83, -13, -577, -49, 103, -515, -280, 201, 300, -506, 131,
		-45, -578, -80, 138, -462, -361, 201, -211, -554, 32, 74, -533, -235, 187, -372, -442, 182, -147, -566, 25,
		68, -535, -244, 194, -351, -463, 174, -125, -570, 15, 72, -550, -190, 172, -424, -385, 198, -218, -536, 96,
	}
	mavro = []float64{
		2.00180, 2.00170, 2.00180, 2.00190, 2.00180, 2.00170, 2.00150, 2.00140, 2.00150, 2.00150,
		2.00170, 2.00180, 2.00180, 2.00190, 2.00190, 2.00210, 2.00200, 2.00160, 2.00140, 2.00130,
		2.00130, 2.00150, 2.00150, 2.00160, 2.00150, 2.00140, 2.00130, 2.00140, 2.00150, 2.00140,
		2.00150, 2.00160, 2.00150, 2.00160, 2.00190, 2.00200, 2.00200, 2.00210, 2.00220, 2.00230,
		2.00240, 2.00250, 2.00270, 2.00260, 2.00260, 2.00260, 2.00270, 2.00260, 2.00250, 2.00240,
	}
)

// piDigits computes the first n digits of pi by Machin's formula.
func piDigits(n int) []float64 {
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n+10)), nil)
	arctan := func(inverse int64) *big.Int {
		sum, power := new(big.Int), new(big.Int).Div(one, big.NewInt(inverse))
		square := big.NewInt(inverse * inverse)
		for k := int64(0); power.Sign() != 0; k++ {
			term := new(big.Int).Div(power, big.NewInt(2*k+1))
			if k%2 == 0 {
				sum.Add(sum, term)
			} else {
				sum.Sub(sum, term)
			}
			power.Div(power, square)
		}
		return sum
	}
	pi := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(16), arctan(5)), new(big.Int).Mul(big.NewInt(4), arctan(239)))
	digits := make([]float64, n)
	for i, c := range pi.String()[:n] {
		digits[i] = float64(c - '0')
	}
	return digits
}

func TestAutocorrelation(t *testing.T) {
	near(t, "Lew", Autocorrelation(lew), -.307304800605679, 1e-14)
	near(t, "Mavro", Autocorrelation(mavro), .937989183438248, 1e-12)
	digits := piDigits(5000)
	digits[956] = 3 // as in NIST's file; pi has an 8
	near(t, "PiDigits", Autocorrelation(digits), -.00355099287237972, 1e-14)
	near(t, "constant", Autocorrelation([]float64{3, 3, 3}), 0, 0)
	near(t, "empty", Autocorrelation(nil), 0, 0)
}

func TestDispersion(t *testing.T) {
	var counts []float64
	for deaths, corpsYears := range []int{109, 65, 22, 3, 1} {
		for range corpsYears {
			counts = append(counts, float64(deaths))
		}
	}
	near(t, "dispersion", Dispersion(counts), 1.00157, 5e-6)
	near(t, "without events", Dispersion([]float64{0, 0}), 0, 0)
	near(t, "one count", Dispersion([]float64{3}), 0, 0)
}
