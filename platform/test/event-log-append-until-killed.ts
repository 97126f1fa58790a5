import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'

/*
 * Appends until it is killed, and prints each record once it is acknowledged: partition, offset if known, text. Partitions 0 and 1
 * get single records, 2 and 3 get pairs that must be complete. Printed lines reach the parent through a pipe. If the parent is too
 * busy to kill it in time, it kills itself.
 */
const [logFolder, groupsFolder, run, segmentBytes, linesMax] = process.argv.slice(2)
const log = await openFileEventLog({
  logFolder: logFolder!,
  groupsFolder: groupsFolder!,
  role: 'writer',
  topics: { t: 4 },
  segmentBytesMax: Number(segmentBytes),
})
let lines = 0
function print(line: string): void {
  process.stdout.write(`${line}\n`)
  lines += 1
  if (lines === Number(linesMax)) process.kill(process.pid, 'SIGKILL')
}
const appenders = Array.from({ length: 64 }, async (_, appender) => {
  for (let n = 0; ; n += 1) {
    const text = `${run}/${appender}/${n}`
    if (appender % 8 === 0) {
      const records = [2, 3].map((partition) => ({ partition, value: Buffer.from(text) }))
      const offsets = await log.appendAll('t', records, Date.now())
      offsets.forEach((offset, at) => print(`${at + 2} ${offset} ${text}`))
    } else {
      await log.append('t', appender % 2, Buffer.from(text), Date.now())
      print(`${appender % 2} - ${text}`)
    }
  }
})
await Promise.all(appenders)
