import { closeSync, openSync, unlinkSync, writeFile } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { GatewayException } from './exception.ts'

const writeAll = promisify(writeFile)

/**
 * Provides rows as a file for the duration of `work`, because the engine reads binary formats only from files, and all others
 * faster. The file is unlinked before it is written. So after a crash at any time at most an empty file is left, which the next
 * insert reuses. Creating and unlinking happen in one turn of the event loop, so concurrent inserts never use the same name.
 */
export async function withRowsFile<Result>(
  folder: string,
  rows: Uint8Array,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  const descriptor = openUnlinked(join(folder, 'incoming-rows'))
  try {
    await writeAll(descriptor, rows).catch(refuse)
    return await work(`/dev/fd/${descriptor}`)
  } finally {
    closeSync(descriptor)
  }
}

function openUnlinked(path: string): number {
  try {
    const descriptor = openSync(path, 'w+', 0o600)
    unlinkSync(path)
    return descriptor
  } catch (error) {
    return refuse(error)
  }
}

/** A full disk or a lack of file descriptors is temporary, and is reported as such. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  throw new GatewayException(425, 'SYSTEM_ERROR', `the rows could not be put aside: ${message}`)
}
