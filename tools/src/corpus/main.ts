import { Command } from 'commander'
import { wholeNumber } from '../terminal/whole-number.ts'
import { readCorpus, writeCorpus } from './corpus-file.ts'
import type { ApiDescription } from './described-requests.ts'
import { createPlayer } from './player.ts'
import { recordCorpus } from './record-corpus.ts'
import { replayCorpus } from './replay-corpus.ts'

type Options = { baseUrl: string; requests: number; seed: number }

const program = new Command('npm run corpus --').description(
  'Record random requests with their answers, or compare an installation with a record.',
)

function keyFromEnvironment(): string {
  const key = process.env['TOLLGATE_KEY']
  if (key === undefined) throw new Error('Set TOLLGATE_KEY to the key of a new provider.')
  return key
}

program
  .command('record')
  .description('Send requests to an installation and store them with the answers')
  .argument('<file>')
  .requiredOption('--base-url <url>', 'Address of the installation')
  .option('--requests <count>', 'Number of requests', wholeNumber(1, 1_000_000), 10_000)
  .option('--seed <number>', 'Seed of the requests', wholeNumber(0, 2 ** 32 - 1), 1)
  .action(async (file: string, { baseUrl, requests: count, seed }: Options) => {
    const player = createPlayer({ baseUrl, key: keyFromEnvironment() })
    const response = await fetch(`${baseUrl}/v1/openapi.json`)
    const description = (await response.json()) as ApiDescription
    await writeCorpus(file, await recordCorpus(player, description, { seed, count }))
  })

program
  .command('compare')
  .description('Send the requests of a record and print what is answered differently')
  .argument('<file>')
  .requiredOption('--base-url <url>', 'Address of the installation')
  .action(async (file: string, { baseUrl }: Options) => {
    const player = createPlayer({ baseUrl, key: keyFromEnvironment() })
    const { differences, intended } = await replayCorpus(player, await readCorpus(file))
    for (const { number, exchange, answer } of differences) {
      console.log(JSON.stringify({ number, ...exchange, now: answer }))
    }
    console.error(`${differences.length} differences, ${intended} intended additions`)
    if (differences.length > 0) process.exitCode = 1
  })

await program.parseAsync()
