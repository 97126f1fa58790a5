/** The installation cannot start here and now. The message is one plain line that says what to do. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError'
  /** A process was killed before it was ready: the same start may succeed when it is repeated. */
  readonly wasKilled: boolean

  constructor(message: string, { wasKilled = false }: { readonly wasKilled?: boolean } = {}) {
    super(message)
    this.wasKilled = wasKilled
  }
}

/** Turns what the file system says into the line a person needs, or gives the error back as it is. */
export function explainFileError(error: unknown, dataDir: string): Error {
  const { code, message, path } = error as NodeJS.ErrnoException
  // A service that could not start tells it in its own words.
  const isFull =
    /ENOSPC|EDQUOT|No space left on device|Check free disk space|Disk quota exceeded|MDB_MAP_FULL/.test(
      message,
    )
  if (isFull || code === 'ENOSPC' || code === 'EDQUOT') {
    return new StartRefusedError(
      `The disk that holds ${dataDir} is full. Free some space, or choose another folder with TOLLGATE_DATA_DIR.`,
    )
  }
  const refusals = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'ELOOP']
  // Folders that are missing are made; where none can be made, the system says that there is none.
  const isImpossible = code === 'ENOENT' && path !== undefined && path.startsWith(dataDir)
  if (code !== undefined && (refusals.includes(code) || isImpossible)) {
    return new StartRefusedError(
      `Cannot write to the data folder ${dataDir} (${code}). Choose another with TOLLGATE_DATA_DIR.`,
    )
  }
  const known = error instanceof Error ? error : new Error(String(error))
  return known.name === 'DataFolderError' ? new StartRefusedError(known.message) : known
}
