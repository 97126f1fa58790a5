import { execFile, spawnSync } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeTemporaryFolder } from '../../src/standalone/temporary-folder.ts'

const run = promisify(execFile)

const requirements = fileURLToPath(new URL('schemathesis-requirements.txt', import.meta.url))

/** Whether this machine has the Python that schemathesis needs, and can install packages for it. */
export const hasPython =
  spawnSync('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'])
    .status === 0

/**
 * Returns the Python of a virtual environment with schemathesis, outside the repository. It is created once per version. It is
 * moved to its final place when it is complete, so that a killed run leaves no incomplete one. `python -m` works after the move.
 */
async function pythonWithSchemathesis(): Promise<string> {
  const version = /^schemathesis==(\S+)/m.exec(await readFile(requirements, 'utf8'))?.[1]
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tollgate')
  const folder = join(cache, `schemathesis-${version}`)
  if (!(await exists(folder))) {
    await mkdir(cache, { recursive: true })
    const making = await mkdtemp(`${folder}-`)
    await run('python3', ['-m', 'venv', making])
    const install = ['-m', 'pip', 'install', '--quiet', '--requirement', requirements]
    await run(join(making, 'bin', 'python'), install)
    await rename(making, folder).catch(async (error: unknown) => {
      // Another process has created it first.
      await rm(making, { recursive: true })
      if (!(await exists(folder))) throw error
    })
  }
  return join(folder, 'bin', 'python')
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

export type SchemathesisOptions = {
  readonly baseUrl: string
  readonly key: string
  /** Number of requests for each operation, and of chains of operations. */
  readonly examples: number
  readonly phases: string
}

/** Checks: no server errors, no undescribed status, and no answer that violates its description. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

/** These operations are skipped, because they would revoke the key of the run, whose id appears in lists. */
export const skippedOperationIds = ['revokeApiKey', 'rotateApiKey']

export type SchemathesisOutcome = {
  /** Failures by operation, for example `POST /v1/sdk/products`. The text is '' for an operation without failures. */
  readonly failures: ReadonlyMap<string, string>
  /** Summary of the number of requests, as printed by schemathesis. */
  readonly figures: string
}

export async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisOutcome> {
  const folder = await makeTemporaryFolder('schemathesis')
  const report = join(folder.path, 'report.xml')
  const parameters = [
    ...['-m', 'schemathesis.cli', 'run', `${options.baseUrl}/v1/openapi.json`],
    ...['--header', `Authorization: Bearer ${options.key}`],
    ...['--phases', options.phases, '--max-examples', String(options.examples)],
    // Only 1 worker is used: before Python 3.13, its XML parser, which schemathesis uses for reports, is not thread-safe.
    ...['--seed', '1', '--workers', '1', '--no-shrink', '--continue-on-failure'],
    ...['--checks', checks.join(), '--warnings', 'off', '--suppress-health-check', 'all'],
    ...skippedOperationIds.flatMap((id) => ['--exclude-operation-id', id]),
    ...['--report', 'junit', '--report-junit-path', report],
  ]
  const python = await pythonWithSchemathesis()
  // schemathesis stores failed examples in its working directory. The exit code contains no more information than the report.
  const { stdout } = await run(python, parameters, {
    cwd: folder.path,
    maxBuffer: outputBytesMax,
  }).catch((error: { stdout: string }) => error)
  const xml = await readFile(report, 'utf8').catch(() => {
    throw new Error(`schemathesis made no report:\n${stdout}`)
  })
  await folder.remove()
  return {
    failures: casesOf(xml),
    figures: /API Operations:[^]*?(?=\nReports:)/.exec(stdout)?.[0] ?? '',
  }
}

const outputBytesMax = 64 * 1_048_576

/** Returns the test cases of a JUnit report. A successful case is empty. */
function casesOf(xml: string): Map<string, string> {
  const cases = xml.split('<testcase ').slice(1)
  return new Map(
    cases.map((text): [string, string] => {
      const [, name = text] = /name="([^"]+)"/.exec(text) ?? []
      return [name, /<(failure|error)\b/.test(text) ? text : '']
    }),
  )
}
