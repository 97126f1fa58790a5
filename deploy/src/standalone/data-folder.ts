import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { needsOtherUser } from '@tollgate/platform/database/embedded/launcher'
import { createPrivateFiles, makePrivateFolder } from '@tollgate/platform/service/private-files'
import { StartRefusedError } from './start-refused.ts'
import { writeFileDurably } from './write-file.ts'

/** Version of the folder's format. Increase it when the previous release can no longer run on a folder of the new release. */
export const dataFormat = 1

/** Paths of the parts of a data folder. */
export type DataFolder = {
  readonly root: string
  readonly log: string
  readonly groups: string
  readonly hot: string
  readonly clickhouse: string
  readonly postgres: string
  readonly logs: string
  readonly formatFile: string
  readonly runFile: string
  readonly credentialsFile: string
  /** Data for the page at `/`. See `demoFileSchema`. */
  readonly demoFile: string
  /** Folder with the password of ClickHouse's read-only user and the history of its prompt. */
  readonly dataTeam: string
}

export function dataFolderAt(root: string): DataFolder {
  return {
    root,
    log: join(root, 'log'),
    groups: join(root, 'groups'),
    hot: join(root, 'hot'),
    clickhouse: join(root, 'clickhouse'),
    postgres: join(root, 'postgres'),
    logs: join(root, 'logs'),
    formatFile: join(root, 'format.json'),
    runFile: join(root, 'run.json'),
    credentialsFile: join(root, 'credentials.json'),
    demoFile: join(root, 'demo.json'),
    dataTeam: join(root, 'data-team'),
  }
}

/**
 * Checks the format of the folder, and writes it in a new folder before any part uses the folder. Call it while the folder's lock
 * is held.
 */
export async function checkFormat(folder: DataFolder): Promise<void> {
  const stored = await readFormat(folder)
  if (stored === undefined) {
    await writeFileDurably(folder.formatFile, `${JSON.stringify({ format: dataFormat })}\n`, 0o600)
    return
  }
  refuseNewer(folder, stored)
}

/** Checks the format of a folder that must not be changed. */
export async function requireFormat(folder: DataFolder): Promise<void> {
  refuseNewer(folder, (await readFormat(folder)) ?? 0)
}

function refuseNewer(folder: DataFolder, stored: number): void {
  if (stored > dataFormat) {
    throw new StartRefusedError(
      `The data folder ${folder.root} was written by a newer Tollgate (format ${stored}; this one knows ${dataFormat}). ` +
        'Start that version, or choose another folder with TOLLGATE_DATA_DIR.',
    )
  }
}

async function readFormat(folder: DataFolder): Promise<number | undefined> {
  let text: string
  try {
    text = await readFile(folder.formatFile, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const format: unknown = parseFormat(text)
  if (typeof format === 'number') return format
  throw new StartRefusedError(
    `${folder.formatFile} is not readable as {"format": number}. Restore it, or choose another folder with TOLLGATE_DATA_DIR.`,
  )
}

function parseFormat(text: string): unknown {
  try {
    return (JSON.parse(text) as { format?: unknown }).format
  } catch {
    return undefined
  }
}

/**
 * Makes the folder and all files that are created in it later readable only by its user, because they contain secrets and customer
 * data.
 */
export async function makeDataFolder(folder: DataFolder): Promise<void> {
  createPrivateFiles()
  await makePrivateFolder(folder.root, needsOtherUser(join(folder.postgres, 'data')))
  await mkdir(folder.logs, { recursive: true })
}
