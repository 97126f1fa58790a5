import { readFile, rm } from 'node:fs/promises'
import { writeFileDurably } from './write-file.ts'

/**
 * State of the installation that runs on a data folder, for commands that use it. Contains secrets, so only its owner can read it.
 */
export type RunFile = {
  readonly supervisorPid: number
  readonly baseUrl: string
  /** Address of the MCP proxy. */
  readonly mcpUrl: string
  readonly startedAt: string
  /** Process id by part. */
  readonly processes: Readonly<Record<string, number>>
  /** Admin URL (health, metrics) by service. */
  readonly adminUrls: Readonly<Record<string, string>>
  /** Environment of the services, for commands that open the same stores. */
  readonly environment: Readonly<Record<string, string>>
}

async function writeRunFile(path: string, content: RunFile): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(content, null, 2)}\n`, 0o600)
}

/**
 * Returns a function that updates the run file after a part was launched. Writes are serialized, because two parts may be launched
 * at the same time. If the file cannot be written, for example on a full disk, the error is reported and the parts keep running.
 */
export function createRunFileUpdater(
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
    // The file is missing, or was truncated by a full disk. In both cases no run is known.
    return undefined
  }
}

export async function removeRunFile(path: string): Promise<void> {
  await rm(path, { force: true })
}
