import { readFile, rm } from 'node:fs/promises'
import { writeFileDurably } from './write-file.ts'

/** What is running on a data folder, for the commands that work with it. Holds secrets: readable by its owner only. */
export type RunFile = {
  readonly supervisorPid: number
  readonly baseUrl: string
  /** Where the MCP proxy listens. */
  readonly mcpUrl: string
  readonly startedAt: string
  /** Process number by service. */
  readonly processes: Readonly<Record<string, number>>
  /** The operator's door (health, metrics) by service. */
  readonly adminUrls: Readonly<Record<string, string>>
  /** The settings the services run with, for commands that open the same parts. */
  readonly environment: Readonly<Record<string, string>>
}

async function writeRunFile(path: string, content: RunFile): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(content, null, 2)}\n`, 0o600)
}

/**
 * Keeps the file in step with the processes. One write at a time: two parts may come up again in the same moment. A
 * disk that is full costs the file, not the parts.
 */
export function createRunFilePublisher(
  path: string,
  describe: (processes: Readonly<Record<string, number>>) => RunFile,
  report: (line: string) => void,
): (name: string, pid: number | undefined) => Promise<void> {
  const processes: Record<string, number> = {}
  let writing = Promise.resolve()
  return (name, pid) => {
    if (pid !== undefined) processes[name] = pid
    writing = writing
      .then(() => writeRunFile(path, describe(processes)))
      .catch((error: unknown) => report(`Cannot write ${path}: ${String(error)}`))
    return writing
  }
}

export async function readRunFile(path: string): Promise<RunFile | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as RunFile
  } catch {
    // Missing or cut short by a full disk: then nothing is known to run.
    return undefined
  }
}

export async function removeRunFile(path: string): Promise<void> {
  await rm(path, { force: true })
}
