import { execFileSync } from 'node:child_process'
import { openFileEventLog } from '../src/event-log/files/file-event-log.ts'

/*
 * Runs with a limit on file sizes, which acts like a full disk: appends until a commit fails, then lifts the limit and appends
 * again. Prints the results as JSON.
 */
const [logFolder, groupsFolder] = process.argv.slice(2) as [string, string]
const topics = { t: 2 }
const log = await openFileEventLog({ logFolder, groupsFolder, role: 'writer', topics })
const kibibyte = Buffer.alloc(1024)

async function appendUntilRefused() {
  for (;;) {
    const before = await log.head('t', 0)
    const appends = Array.from({ length: 50 }, () => log.append('t', 0, kibibyte, 1))
    const outcomes = await Promise.allSettled(appends)
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    if (refused.length === 0) continue
    const names = new Set(refused.map(({ reason }) => (reason as Error).name))
    const checked = await log.checkWritable().then(
      () => 'writable',
      (error: Error) => error.name,
    )
    const head = await log.head('t', 0)
    return { refused: refused.length, names: [...names], grownBy: head - before, checked, head }
  }
}

const full = await appendUntilRefused()
execFileSync('prlimit', ['--pid', `${process.pid}`, '--fsize=unlimited'])
await log.append('t', 0, kibibyte, 1)
const afterRoom = { head: await log.head('t', 0) }
await log.checkWritable()
process.stdout.write(JSON.stringify({ full, afterRoom }))
await log.close()
