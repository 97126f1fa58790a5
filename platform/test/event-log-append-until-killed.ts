import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'

/*
 * Appends until it is killed, and prints each record once it is acknowledged: partition, offset if known, text. Partitions 0 and 1
 * get single records, 2 and 3 get pairs that must be complete. Printed lines reach the parent through a pipe.
 */
const [logFolder, groupsFolder, run, segmentBytes] = process.argv.slice(2)
const log = await openFileEventLog({
  logFolder: logFolder!,
  groupsFolder: groupsFolder!,
  role: 'writer',
  topics: { t: 4 },
  segmentBytesMax: Number(segmentBytes),
})
const appenders = Array.from({ length: 64 }, async (_, appender) => {
  for (let n = 0; ; n += 1) {
    const text = `${run}/${appender}/${n}`
    if (appender % 8 === 0) {
      const records = [2, 3].map((partition) => ({ partition, value: Buffer.from(text) }))
      const offsets = await log.appendAll('t', records, Date.now())
      offsets.forEach((offset, at) => process.stdout.write(`${at + 2} ${offset} ${text}\n`))
    } else {
      await log.append('t', appender % 2, Buffer.from(text), Date.now())
      process.stdout.write(`${appender % 2} - ${text}\n`)
    }
  }
})
await Promise.all(appenders)
