import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSessions, type EngineSessions } from './sessions.ts'

/**
 * Opens the engine on its folder, and creates the folder if necessary. The engine locks the folder and writes its owner to the file
 * `status`; its own error mentions neither.
 */
export async function openFolder(folder: string, waitMs: number): Promise<EngineSessions> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const end = Date.now() + waitMs
  for (;;) {
    try {
      return openSessions(folder)
    } catch (error) {
      const owner = await livingOwnerOf(folder)
      if (owner === undefined) throw error
      if (Date.now() > end) {
        throw new Error(
          `The ClickHouse folder ${folder} is in use by process ${owner}; only one process can open it.`,
          { cause: error },
        )
      }
      await sleep(100)
    }
  }
}

async function livingOwnerOf(folder: string): Promise<number | undefined> {
  try {
    const status = await readFile(join(folder, 'status'), 'utf8')
    const pid = Number(/^PID: (\d+)/m.exec(status)?.[1])
    process.kill(pid, 0)
    return pid
  } catch {
    return undefined
  }
}
