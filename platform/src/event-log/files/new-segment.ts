import { constants, rmSync } from 'node:fs'
import { open, rename, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentPath } from './segment-files.ts'
import { encodeSegmentHeader, type SegmentHeader, type SegmentOrigin } from './segment-header.ts'
import { writeWholeAsync } from './write-whole.ts'

/*
 * A segment is made under another name and gets its own when its header is on the disk, so that a file with a segment's
 * name has a header. A crash in between leaves the other name, which the next one starts over.
 */
function unnamedPath(folder: string): string {
  return join(folder, 'next')
}

/**
 * Makes the file and fills it with zeros, so that the commits that come into it change nothing about the file but its
 * bytes: the disk then has one thing to write per commit, not two. Where there is no room for it the file stays empty,
 * and commits make it grow.
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

/** Gives the prepared file its header and its name. It is open for commits when this resolves. */
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

/** A write to such a file has reached the disk when it returns. */
export function openForCommits(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_DSYNC)
}

/** Makes created, renamed and deleted names durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Commits of that time wait behind one such piece at most; smaller ones cost the processor more. */
const zeros = Buffer.alloc(2 ** 20)
