import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pathOf, withDescendants } from '@tollgate/platform/cli/command-line'
import { CommanderError } from 'commander'
import { expect, test } from 'vitest'
import { completionScript } from './completion/completion-script.ts'
import { outputShapes } from './output-shapes.ts'
import { createTollgateProgram } from './program.ts'

type Ending = { readonly code: number; readonly out: string; readonly error: string }

/** Parses a command line as the process would, and returns its exit code and output. */
async function run(
  words: string,
  environment: Readonly<Record<string, string>> = { TOLLGATE_DATA_DIR: '/nowhere' },
): Promise<Ending> {
  let [out, error] = ['', '']
  const { program } = createTollgateProgram(environment)
  for (const command of withDescendants(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => (out += text),
      writeErr: (text) => (error += text),
    })
  }
  try {
    await program.parseAsync(words.split(' '), { from: 'user' })
    return { code: 0, out, error }
  } catch (failure) {
    if (failure instanceof CommanderError) return { code: failure.exitCode, out, error }
    return { code: 1, out, error: `${(failure as Error).message}\n` }
  }
}

test('lists every command in a group in the help', async () => {
  const { code, out } = await run('--help')
  expect(code).toBe(0)
  for (const path of Object.keys(outputShapes)) expect(out).toContain(`\n  ${path} `)
  expect(out.match(/^\S.*:$/gm)).toEqual([
    'Options:',
    'Providers and access:',
    'Money:',
    'Usage data:',
    'Installation:',
  ])
})

test.each(['help', 'help key', 'key --help', 'key create --help', 'migrate -h', '--version', '-V'])(
  'ends %s with code 0',
  async (words) => {
    expect(await run(words)).toMatchObject({ code: 0, error: '' })
  },
)

test('names required options in the usage line', async () => {
  const { out } = await run('key create --help')
  expect(out).toContain(
    'Usage: tollgate key create --provider <providerId> --environment <environment> [options]',
  )
  expect(out).toMatch(/--provider <providerId> +Provider of the key \(required\)/)
})

test.each([
  ['keys list', "Unknown command 'keys'. Did you mean key? See: tollgate --help"],
  ['key lst', "Unknown command 'lst'. Did you mean list? See: tollgate key --help"],
  [
    'key list --provder prv_1',
    "Unknown option '--provder'. Did you mean --provider? See: tollgate key list --help",
  ],
  [
    'reconcile --repar',
    "Unknown option '--repar'. Did you mean --repair? See: tollgate reconcile --help",
  ],
  [
    'key list',
    "Required option '--provider <providerId>' not specified. See: tollgate key list --help",
  ],
  [
    'usage restore --from redis',
    "Option '--from <source>' argument 'redis' is invalid. It must be log. See: tollgate usage restore --help",
  ],
  [
    'key list --provider prv_1 --json --quiet',
    "Option '--json' cannot be used with option '-q, --quiet'. See: tollgate --help",
  ],
  [
    'provider list',
    'No installation runs on /nowhere. Run npm start first, name its folder with TOLLGATE_DATA_DIR, or set TOLLGATE_DATABASE_URL.',
  ],
  ['log verify', 'There is no event log in /nowhere. Name its folder with TOLLGATE_DATA_DIR.'],
])('%s: %s', async (words, line) => {
  expect(await run(words)).toEqual({ code: 1, out: '', error: `${line}\n` })
})

test('connects clickhouse to the server in the environment, even if the data folder is in use', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-program-'))
  const local = { TOLLGATE_CLICKHOUSE_READER_PASSWORD: 'local' }
  await writeFile(join(folder, 'run.json'), JSON.stringify({ environment: local }))
  const named = { TOLLGATE_DATA_DIR: folder, TOLLGATE_CLICKHOUSE_URL: 'http://127.0.0.1:1' }
  expect((await run('clickhouse --query SELECT', named)).error).toContain(
    'READER_PASSWORD is not set',
  )
  await rm(folder, { recursive: true })
})

test('ends with code 0 when the reader of the output disconnects', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const command = `"${process.execPath}" --conditions=source --import tsx "${main}" completion bash | true`
  const { status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', command], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test.each([
  ['tollgate ke', 'key'],
  ['tollgate key ', 'create rotate revoke list'],
  ['tollgate key create --environment ', 'sandbox live'],
  ['tollgate key create --environment live --pro', '--provider'],
  ['tollgate --json reconcile --rep', '--repair'],
  ['tollgate billing run --at 2027-01-31 --dry', '--dry-run'],
])('completes "%s" in bash', (line, expected) => {
  const words = line.split(' ')
  const script = `${completionScript(createTollgateProgram({}).program, 'bash')}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}
    _tollgate
    echo "\${COMPREPLY[*]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-u', '-c', script], { encoding: 'utf8' })
  expect({ stdout, stderr }).toEqual({ stdout: `${expected}\n`, stderr: '' })
})

test('includes every command and option in every completion script', () => {
  const { program } = createTollgateProgram({})
  for (const shell of ['zsh', 'fish'] as const) {
    const script = completionScript(program, shell)
    for (const command of withDescendants(program).slice(1)) {
      expect(script).toContain(pathOf(command).split(' ').slice(1).join(' '))
      for (const { long } of command.options) expect(script).toContain(long!.slice(2))
    }
  }
})
