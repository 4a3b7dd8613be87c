# How often the verdicts are right, on requests that are slow for a known cause.
# Both need root.

# What the binary carries along beside Go.
$(BIN): internal/lab/service.py ring/python/tailtrace_ring.py

.PHONY: accuracy accuracy-ci
# Recall and precision of each cause, with 1% of the requests made slow, 30 for
# each cause in three runs, in four shapes of the service; about 5 minutes.
# Fails where one is below 0.99.
accuracy: $(BIN)
	$(BIN) demo --require 0.99 --shape all --runs 3 --per-cause 10

# The same in half a minute, with more of the requests made slow and a lower bar.
accuracy-ci: $(BIN)
	$(BIN) demo --require 0.8 --shape all --per-cause 10 --requests 3000
