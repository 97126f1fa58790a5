import { Argument, Command } from 'commander'
import { startInstance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '../instance/temporary-folder.ts'
import { wholeNumber } from '../terminal/whole-number.ts'
import { checkAborts } from './aborts/check-aborts.ts'
import { checkEndless } from './check-endless.ts'
import { checkSlow } from './check-slow.ts'
import { checkRequests } from './requests/check-requests.ts'
import type { Check } from './verdict.ts'

type Options = {
  requests: number
  connections: number
  aborts: number
  sockets: number
  endless: number
  seconds: number
  seed: number
}

const kinds = ['requests', 'slow', 'aborts', 'endless'] as const
type Kind = (typeof kinds)[number]

const program = new Command('npm run hostile --')
  .description(
    'Does to a temporary instance what no well-meaning client does: senseless requests, connections that are held ' +
      'and hardly used, clients that leave at any moment, bodies that never end.',
  )
  .addArgument(new Argument('[kind]', 'one of them alone').choices(kinds))
  .option('-n, --requests <count>', 'senseless requests', wholeNumber(1, 100_000_000), 1_000_000)
  .option('-c, --connections <count>', 'that send them', wholeNumber(1, 1_000), 32)
  .option('--sockets <count>', 'slow connections', wholeNumber(1, 100_000), 5_000)
  .option('--aborts <count>', 'clients that leave', wholeNumber(1, 10_000_000), 100_000)
  .option('--endless <count>', 'connections with endless bodies', wholeNumber(1, 100_000), 10_000)
  .option(
    '--seconds <count>',
    'beside slow clients, and of endless bodies',
    wholeNumber(1, 600),
    60,
  )
  .option('--seed <number>', 'repeats an earlier run', wholeNumber(0, 2 ** 32 - 1), 1)
program.parse()

const options = program.opts<Options>()
const { seconds } = options
const checks: Record<Kind, Check> = {
  requests: checkRequests(options),
  slow: checkSlow({ sockets: options.sockets, rounds: 3, seconds }),
  aborts: checkAborts(options),
  endless: checkEndless({ connections: options.endless, seconds }),
}
const [kind] = program.processedArgs as [Kind | undefined]
const say = (line: string): void => console.log(line)

const folder = await makeTemporaryFolder('hostile')
const instance = await startInstance({ dataDir: folder.path, port: 0, environment: process.env })
try {
  say(`seed ${options.seed}`)
  for (const each of kind === undefined ? kinds : [kind]) {
    say(`\n${each}`)
    const { lines, problems } = await checks[each](instance, say)
    for (const line of lines) say(line)
    for (const problem of problems) say(`PROBLEM ${problem}`)
    say(problems.length === 0 ? `${each}: withstood` : `${each}: ${problems.length} problems`)
    if (problems.length > 0) process.exitCode = 1
  }
} finally {
  await instance.stop()
  await folder.remove()
}
