import { closeSync, openSync, unlinkSync, writeFile } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { GatewayException } from './exception.ts'

const writeAll = promisify(writeFile)

/**
 * Rows as a file that lives as long as `work`, because the engine reads binary formats from files only and all others
 * faster. The file loses its name before it is written: whenever the process dies, nothing of it is left but, at most,
 * an empty file that the next insert takes over. There is no turn of the event loop between its making and that, so
 * inserts that run side by side never meet under the name.
 */
export async function withRowsFile<Result>(
  folder: string,
  rows: Uint8Array,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  const descriptor = openNameless(join(folder, 'incoming-rows'))
  try {
    await writeAll(descriptor, rows).catch(refuse)
    return await work(`/dev/fd/${descriptor}`)
  } finally {
    closeSync(descriptor)
  }
}

function openNameless(path: string): number {
  try {
    const descriptor = openSync(path, 'w+', 0o600)
    unlinkSync(path)
    return descriptor
  } catch (error) {
    return refuse(error)
  }
}

/** A full disk, no descriptor left: what passes is told in terms that say so. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  throw new GatewayException(425, 'SYSTEM_ERROR', `the rows could not be put aside: ${message}`)
}
