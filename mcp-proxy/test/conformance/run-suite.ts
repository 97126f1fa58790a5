import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Suite } from './suites.ts'

const run = promisify(execFile)
const releasesCommand = fileURLToPath(new URL('../../../tools/node-releases.mjs', import.meta.url))

/** Result of one scenario of the suite. */
export type CaseResult = {
  readonly verdict: 'passed' | 'warned' | 'failed'
  /** Check ids with their statuses, in the order of the suite. Purely informative entries are left out. */
  readonly checks: readonly string[]
  /** Messages of failures and warnings. */
  readonly findings: readonly string[]
}

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string }

/** Returns the path of Node 22, and installs it if it is missing. */
export async function findNode22(): Promise<string> {
  const { stdout } = await run(process.execPath, [releasesCommand, '22'])
  return stdout.trim()
}

/** Runs the suite against the URL. Returns its results by scenario. Throws if the suite itself could not run. */
export async function runSuite(
  node: string,
  { program, parameters }: Suite,
  url: string,
): Promise<ReadonlyMap<string, CaseResult>> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-conformance-'))
  try {
    const command = [program, 'server', '--url', url, ...parameters, '-o', folder]
    // The exit code only says that a check failed. The results contain the details.
    const output = await run(node, command, { maxBuffer: 64 * 1024 * 1024 }).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    )
    const results = await readResults(folder)
    if (results.size === 0) throw new Error(`${output.stdout}${output.stderr}`)
    return results
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readResults(folder: string): Promise<ReadonlyMap<string, CaseResult>> {
  const results = new Map<string, CaseResult>()
  for (const name of (await readdir(folder)).sort()) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1]
    if (scenario === undefined) continue
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8')
    results.set(scenario, summarize(JSON.parse(text) as Check[]))
  }
  return results
}

function summarize(checks: readonly Check[]): CaseResult {
  const has = (status: string) => checks.some((check) => check.status === status)
  return {
    verdict: has('FAILURE') ? 'failed' : has('WARNING') ? 'warned' : 'passed',
    checks: checks
      .filter(({ status }) => status !== 'INFO')
      .map(({ id, status }) => `${id} ${status}`),
    findings: checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'no message'}`),
  }
}
