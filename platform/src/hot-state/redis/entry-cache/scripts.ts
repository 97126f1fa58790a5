import { createScript } from '../scripts/script.ts'

/*
 * Processes that cache entries hold leases in one hash:
 *   sequence      number of the last announced change
 *   <reader>      "<run id of the server> <number of the last change that the reader has noticed> <end of its lease, Unix ms>"
 *
 * A server with another run id may have lost changes and leases, or may repeat their numbers. A number therefore counts only
 * together with the run id of the server that gave it.
 */
const readers = `
local call = redis.call
local hash = KEYS[1]
local runId = string.match(call('INFO', 'server'), 'run_id:(%w+)')
local time = call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)

local function readerOf(field)
  local stored = call('HGET', hash, field)
  if not stored then return nil end
  local run, seen, untilMs = string.match(stored, '^(%w+) (%d+) (%d+)$')
  return { run = run, seen = tonumber(seen), untilMs = tonumber(untilMs) }
end

local function behind(sequence)
  local total = 0
  local fields = call('HKEYS', hash)
  for i = 1, #fields do
    if fields[i] ~= 'sequence' then
      local reader = readerOf(fields[i])
      if reader.untilMs < nowMs then
        call('HDEL', hash, fields[i])
      elseif reader.run ~= runId or reader.seen < sequence then
        total = total + 1
      end
    end
  end
  return total
end
`

/*
 * ARGV: reader, length of the lease in ms, run id and number that the reader has noticed last, replicas that must be up to date.
 * Returns the run id, the number of the last change, and 1 if the reader had a lease until now. Returns nothing if too few replicas
 * are up to date: a server that was cut off from them may already have been replaced.
 */
export const renewLeaseScript = createScript(
  readers,
  `
local needed = tonumber(ARGV[5])
if needed > 0 then
  local upToDate, replicas = 0, 0
  for lag in string.gmatch(call('INFO', 'replication'), 'slave%d+:[^\\r\\n]*lag=(%d+)') do
    replicas = replicas + 1
    if tonumber(lag) <= 1 then upToDate = upToDate + 1 end
  end
  if replicas > 0 and upToDate < needed then return false end
end
local reader = readerOf(ARGV[1])
local isHeld = reader ~= nil and reader.run == runId and reader.untilMs >= nowMs
call('HSET', hash, ARGV[1], string.format('%s %d %.0f', ARGV[3], tonumber(ARGV[4]), nowMs + tonumber(ARGV[2])))
return { runId, tonumber(call('HGET', hash, 'sequence') or '0'), isHeld and 1 or 0 }
`,
)

/* ARGV: reader, run id and number that it has noticed. A reader without a lease gets none by this. */
export const noteSeenScript = createScript(
  readers,
  `
local reader = readerOf(ARGV[1])
if reader == nil then return 0 end
call('HSET', hash, ARGV[1], string.format('%s %d %.0f', ARGV[2], tonumber(ARGV[3]), reader.untilMs))
return 1
`,
)

/*
 * ARGV: channel, and the text of the change. Announces a change that is already made. Returns its number, the run id, and the
 * number of readers with a lease that have not noticed it.
 */
export const announceScript = createScript(
  readers,
  `
local sequence = call('HINCRBY', hash, 'sequence', 1)
call('PUBLISH', ARGV[1], runId .. ' ' .. sequence .. ' ' .. ARGV[2])
return { runId, sequence, behind(sequence) }
`,
)

/* ARGV: run id and number of a change. Returns the number of readers with a lease that have not noticed it, or -1 if the server is another one. */
export const countBehindScript = createScript(
  readers,
  `
if ARGV[1] ~= runId then return -1 end
return behind(tonumber(ARGV[2]))
`,
)

/* ARGV: reader. */
export const endLeaseScript = createScript(`redis.call('HDEL', KEYS[1], ARGV[1])`)
