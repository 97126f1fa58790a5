import { openLmdbEventLog } from '../src/event-log/lmdb/lmdb-event-log.ts'

/*
 * Appends until it is killed, and prints each record's place once it is acked: partition, offset, text. Partitions 0
 * and 1 take single records, 2 and 3 take pairs that must come whole. What is printed is with the parent (a pipe).
 */
const [logFolder, groupsFolder, run] = process.argv.slice(2) as [string, string, string]
const log = await openLmdbEventLog({ logFolder, groupsFolder, role: 'writer', topics: { t: 4 } })
const appenders = Array.from({ length: 64 }, async (_, appender) => {
  for (let n = 0; ; n += 1) {
    const text = `${run}/${appender}/${n}`
    if (appender % 8 === 0) {
      const records = [2, 3].map((partition) => ({ partition, value: Buffer.from(text) }))
      const offsets = await log.appendAll('t', records, Date.now())
      offsets.forEach((offset, at) => process.stdout.write(`${at + 2} ${offset} ${text}\n`))
    } else {
      const offset = await log.append('t', appender % 2, Buffer.from(text), Date.now())
      process.stdout.write(`${appender % 2} ${offset} ${text}\n`)
    }
  }
})
await Promise.all(appenders)
