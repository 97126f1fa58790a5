import { Argument, Command } from 'commander'
import { startInstance, type Instance } from '../instance/instance.ts'
import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'
import { wholeNumber } from '../terminal/whole-number.ts'
import { checkAborts } from './aborts/check-aborts.ts'
import { checkEndless } from './check-endless.ts'
import { checkSlow } from './check-slow.ts'
import { checkFraming } from './framing/check-framing.ts'
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

const kinds = ['requests', 'framing', 'slow', 'aborts', 'endless'] as const
const fronts = ['uws', 'node'] as const
type Kind = (typeof kinds)[number]

const program = new Command('npm run hostile --')
  .description(
    'Attack a temporary instance: malformed requests, slow clients, aborted requests, endless bodies. Then check the ' +
      'sums and the memory.',
  )
  .addArgument(new Argument('[kind]', 'Run only this attack').choices(kinds))
  .option(
    '-n, --requests <count>',
    'Malformed requests, and smuggled requests (half of them at each HTTP front)',
    wholeNumber(2, 100_000_000),
    1_000_000,
  )
  .option('-c, --connections <count>', 'Connections that send them', wholeNumber(1, 1_000), 32)
  .option('--sockets <count>', 'Slow connections', wholeNumber(1, 100_000), 5_000)
  .option('--aborts <count>', 'Aborted requests', wholeNumber(1, 10_000_000), 100_000)
  .option('--endless <count>', 'Connections with endless bodies', wholeNumber(1, 100_000), 10_000)
  .option(
    '--seconds <count>',
    'How long slow clients and endless bodies last, in seconds',
    wholeNumber(1, 600),
    60,
  )
  .option(
    '--seed <number>',
    'Seed of the random requests: the same seed repeats them',
    wholeNumber(0, 2 ** 32 - 1),
    1,
  )
program.parse()

const options = program.opts<Options>()
const { seconds } = options
const checks: Record<Kind, Check> = {
  requests: checkRequests(options),
  framing: checkFraming({ ...options, requests: Math.floor(options.requests / fronts.length) }),
  slow: checkSlow({ sockets: options.sockets, rounds: 3, seconds }),
  aborts: checkAborts(options),
  endless: checkEndless({ connections: options.endless, seconds }),
}
const [kind] = program.processedArgs as [Kind | undefined]
const print = (line: string): void => console.log(line)
const chosen = kind === undefined ? kinds : [kind]

async function onInstance(
  front: string | undefined,
  use: (instance: Instance) => Promise<void>,
): Promise<void> {
  const folder = await makeTemporaryFolder('hostile')
  const environment =
    front === undefined ? process.env : { ...process.env, TOLLGATE_HTTP_FRONT: front }
  const instance = await startInstance({ dataDir: folder.path, port: 0, environment })
  try {
    await use(instance)
  } finally {
    await instance.stop()
    await folder.remove()
  }
}

async function run(name: string, check: Check, instance: Instance): Promise<void> {
  print(`\n${name}`)
  const { lines, problems } = await check(instance, print)
  for (const line of lines) print(line)
  for (const problem of problems) print(`PROBLEM ${problem}`)
  print(problems.length === 0 ? `${name}: passed` : `${name}: ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}

print(`seed ${options.seed}`)
const onAnyFront = chosen.filter((each) => each !== 'framing')
if (onAnyFront.length > 0) {
  await onInstance(undefined, async (instance) => {
    for (const each of onAnyFront) await run(each, checks[each], instance)
  })
}
if (chosen.includes('framing')) {
  for (const front of fronts) {
    await onInstance(front, (instance) => run(`framing at ${front}`, checks.framing, instance))
  }
}
