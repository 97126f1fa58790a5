import { Command } from 'commander'
import { startInstance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '../instance/temporary-folder.ts'
import { formatCount, formatTable } from '../terminal/table.ts'
import { wholeNumber } from '../terminal/whole-number.ts'
import { checkHostile } from './check-hostile.ts'

type Options = { requests: number; connections: number; seed: number }

const program = new Command('npm run hostile --')
  .description('Sends requests that no well-meaning client sends to a temporary instance.')
  .option('-n, --requests <count>', 'how many', wholeNumber(1, 100_000_000), 1_000_000)
  .option('-c, --connections <count>', 'at a time', wholeNumber(1, 1_000), 32)
  .option('--seed <number>', 'repeats an earlier run', wholeNumber(0, 2 ** 32 - 1), 1)
program.parse()

const say = (line: string): void => console.log(line)
const options = program.opts<Options>()
const folder = await makeTemporaryFolder('hostile')
const instance = await startInstance({ dataDir: folder.path, port: 0, environment: process.env })
try {
  say(`seed ${options.seed}`)
  const { tally, storedRecords, problems } = await checkHostile(instance, { ...options, say })
  const rows = [...tally.statuses]
    .sort(([a], [b]) => String(a).localeCompare(String(b)))
    .map(([status, count]) => [String(status), formatCount(count)])
  say(`\n${formatTable(['status', 'answers'], rows)}\n`)
  say(
    `${formatCount(tally.ackedRecords)} records acknowledged, ${formatCount(storedRecords)} stored.`,
  )
  for (const problem of problems) say(`PROBLEM ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  else say(`Withstood ${formatCount(tally.requests)} hostile requests.`)
} finally {
  await instance.stop()
  await folder.remove()
}
