import { Command } from 'commander'
import { startInstance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '../instance/temporary-folder.ts'
import { findFreePort } from '../standalone/ports.ts'
import { wholeNumber } from '../terminal/whole-number.ts'
import { reportText } from './report.ts'
import { runBench, type BenchOptions } from './run-bench.ts'
import { startCeiling } from './start-ceiling.ts'
import { requireWrk } from './wrk.ts'

const program = new Command('npm run bench --')
  .description('Measures a temporary instance beside the ceilings of this machine.')
  .option('-s, --seconds <seconds>', 'length of each load', wholeNumber(1, 120), 5)
  .option('-r, --repeats <count>', 'loads per server; the medians are shown', wholeNumber(1, 20), 3)
  .option(
    '-b, --backlog <records>',
    'records for the projections',
    wholeNumber(1_000, 5_000_000),
    300_000,
  )
program.parse()

const say = (line: string): void => console.log(line)
await requireWrk()
const folder = await makeTemporaryFolder('bench')
const ceiling = await startCeiling(process.env)
const port = await findFreePort(new Set())
const instance = await startInstance({
  dataDir: `${folder.path}/data`,
  port,
  // It stops processes for a while, to measure what the others do without them.
  environment: { ...process.env, TOLLGATE_HUNG_AFTER_SECONDS: '86400' },
})
try {
  const result = await runBench(
    instance,
    ceiling.baseUrl,
    folder.path,
    program.opts<BenchOptions>(),
    say,
  )
  say(`\n${reportText(result)}`)
} finally {
  ceiling.stop()
  await instance.stop()
  await folder.remove()
}
