import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  makeTemporaryFolder,
  type TemporaryFolder,
} from '@tollgate/deploy/standalone/temporary-folder'
import { readCorpus } from '../src/corpus/corpus-file.ts'
import { createPlayer } from '../src/corpus/player.ts'
import { replayCorpus } from '../src/corpus/replay-corpus.ts'
import { startInstance, type Instance } from '../src/instance/instance.ts'

/*
 * Sends recorded requests to a new installation, and compares the answers with those of the version before rate cards, byte for
 * byte after ids and times. The plans have no charges. `npm run test:corpus` sends all 10,000; each may use what earlier ones
 * created, so the short version sends the first ones.
 */

const corpus = fileURLToPath(new URL('../corpus/before-rate-cards.jsonl.br', import.meta.url))
const tollgate = fileURLToPath(
  new URL('../../deploy/dist/bundled/tollgate/main.js', import.meta.url),
)
const count = process.env['TOLLGATE_TEST_CORPUS'] === 'whole' ? Infinity : 400

let folder: TemporaryFolder
let instance: Instance

beforeAll(async () => {
  folder = await makeTemporaryFolder('corpus')
  // Usage queries wait until usage is stored.
  const environment = { ...process.env, TOLLGATE_SINK_DELAY_MS: '20' }
  instance = await startInstance({ dataDir: folder.path, port: 0, environment })
})

afterAll(async () => {
  await instance.stop()
  await folder.remove()
})

/** Returns what a command prints with `--quiet`. */
async function run(...parameters: readonly string[]): Promise<string> {
  const env = { ...process.env, TOLLGATE_DATA_DIR: folder.path }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [tollgate, ...parameters, '--quiet'],
    { env },
  )
  return stdout.trim()
}

test('answers as the version before rate cards did', { timeout: 1_800_000 }, async () => {
  const provider = await run('provider', 'create', '--name', 'Test')
  const key = await run('key', 'create', '--provider', provider, '--environment', 'sandbox')
  const player = createPlayer({ baseUrl: instance.credentials.baseUrl, key })
  const exchanges = (await readCorpus(corpus)).slice(0, count)
  const { differences, intended } = await replayCorpus(player, exchanges)
  console.log(`${exchanges.length} requests, ${intended} answered with intended additions`)
  expect(differences).toEqual([])
})
