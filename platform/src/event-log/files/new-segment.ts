import { constants, rmSync } from 'node:fs'
import { open, rename, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentPath } from './segment-files.ts'
import { encodeSegmentHeader, type SegmentHeader, type SegmentOrigin } from './segment-header.ts'
import { writeWholeAsync } from './write-whole.ts'

/*
 * A segment is created under a temporary name and renamed when its header is durable. So every file with the name of a segment has
 * a header. A crash in between leaves the temporary file, which the next start overwrites.
 */
function unnamedPath(folder: string): string {
  return join(folder, 'next')
}

/**
 * Creates the file and fills it with zeros. Later commits then change only the content of the file and not its size, so the disk
 * writes once per commit instead of twice. If there is no room, the file stays empty and grows with its commits.
 */
export async function prepareSegment(folder: string, bytes: number): Promise<void> {
  const file = await open(unnamedPath(folder), 'w')
  try {
    for (let at = 0; at < bytes; at += zeros.length) {
      await writeWholeAsync(file.fd, zeros.subarray(0, bytes - at), at)
      await file.datasync()
    }
  } catch {
    await file.truncate(0)
  } finally {
    await file.close()
  }
}

export function discardPrepared(folder: string): void {
  rmSync(unnamedPath(folder), { force: true })
}

/** Writes the header to the prepared file and renames it. The file is open for commits when this resolves. */
export async function installSegment(
  folder: string,
  origin: SegmentOrigin,
): Promise<{ file: FileHandle; header: SegmentHeader }> {
  const file = await openForCommits(unnamedPath(folder))
  try {
    const header = encodeSegmentHeader(origin)
    await writeWholeAsync(file.fd, header, 0)
    await rename(unnamedPath(folder), segmentPath(folder, origin.number))
    await syncFolder(folder)
    return { file, header: { ...origin, bytes: header.length } }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Opens a file so that each write is durable when it returns. */
export function openForCommits(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_DSYNC)
}

/** Makes created, renamed and deleted file names durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Size of one write. A commit may wait for one of them; smaller ones cost more CPU time. */
const zeros = Buffer.alloc(2 ** 20)
