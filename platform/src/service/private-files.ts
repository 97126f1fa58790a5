import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Permissions of group and others, who may not access anything in a data folder. */
const othersMask = 0o077

/** Makes this process, and those that it starts, create files that only their user can read. Call it before any file is created. */
export function createPrivateFiles(): void {
  process.umask(othersMask)
}

/**
 * Creates the folder if it is missing. A folder that others can reach, as older versions left it, loses every permission of group
 * and others, with all its files. The folder itself is changed last, so that an interrupted start does the rest again.
 * `isPassable` lets others pass through the folder, for a part that runs as another user and has a folder of its own in it.
 */
export async function makePrivateFolder(folder: string, isPassable = false): Promise<void> {
  await makeFolder(folder)
  const mode = isPassable ? 0o711 : 0o700
  const found = await modeOf(folder)
  if (found === 0o700 && !isPassable) return
  await takeFromEntries(folder)
  await setMode(folder, mode)
}

/**
 * Creates the folder and the missing folders above it. The recursive `mkdir` of Node never returns where a file system refuses a
 * new folder with ENOENT, as /proc does.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}

async function takeFromEntries(folder: string): Promise<void> {
  for (const entry of (await readEntries(folder)) ?? []) {
    const path = join(folder, entry.name)
    // A link has no mode of its own, and its target may be outside of the data folder.
    if (entry.isSymbolicLink()) continue
    if (entry.isDirectory()) await takeFromEntries(path)
    const mode = await modeOf(path)
    if (mode !== undefined && (mode & othersMask) !== 0) await setMode(path, mode & ~othersMask)
  }
}

function readEntries(folder: string) {
  return unlessForeign(() => readdir(folder, { withFileTypes: true }))
}

function modeOf(path: string): Promise<number | undefined> {
  return unlessForeign(async () => (await lstat(path)).mode & 0o7777)
}

function setMode(path: string, mode: number): Promise<void> {
  return unlessForeign(() => chmod(path, mode)).then(() => undefined)
}

/** Ignores files that a part has removed meanwhile, and files of another user on the volume, such as `lost+found`. */
const passedOver: ReadonlySet<unknown> = new Set(['ENOENT', 'EPERM', 'EACCES'])

async function unlessForeign<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (passedOver.has((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
}
