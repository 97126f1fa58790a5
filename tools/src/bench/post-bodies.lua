-- Posts the lines of a file in turn: wrk --script=post-bodies.lua URL -- bodies-file key new-key prefix
-- Requests are formatted before the run, so that the generator costs as little as it can. Only the text `new-key` is replaced when a
-- request is sent: by the prefix and a number, so that no two requests have the same idempotency key.

local requests = {}
local next = 0
local sent = 0
local prefix

local function split(text, separator)
  local parts = {}
  local from = 1
  while true do
    local first, last = string.find(text, separator, from, true)
    if not first then break end
    parts[#parts + 1] = string.sub(text, from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = string.sub(text, from)
  return parts
end

function init(args)
  local headers = {
    ["Content-Type"] = "application/json",
    ["Authorization"] = "Bearer " .. args[2],
  }
  prefix = args[4]
  for body in io.lines(args[1]) do
    local text = wrk.format("POST", nil, headers, body)
    local parts = split(text, args[3])
    requests[#requests + 1] = #parts == 1 and text or parts
  end
end

function request()
  next = next % #requests + 1
  local found = requests[next]
  if type(found) == "string" then return found end
  sent = sent + 1
  return table.concat(found, string.format("%s%08x", prefix, sent))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d %d\n",
    summary.requests,
    summary.duration,
    latency:percentile(50),
    latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout,
    errors.status))
end
