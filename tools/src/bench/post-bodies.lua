-- Posts the lines of a file in turn: wrk --script=post-bodies.lua URL -- bodies-file key
-- Requests are formatted before the run, so that the generator costs as little as it can.

local requests = {}
local next = 0

function init(args)
  local headers = {
    ["Content-Type"] = "application/json",
    ["Authorization"] = "Bearer " .. args[2],
  }
  for body in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  next = next % #requests + 1
  return requests[next]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d\n",
    summary.requests,
    summary.duration,
    latency:percentile(50),
    latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
