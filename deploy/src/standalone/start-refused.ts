/** The installation cannot start. The message is one line that says what to do. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError'
  /** Whether a process was killed before it was ready. The same start may succeed when it is repeated. */
  readonly wasKilled: boolean

  constructor(message: string, { wasKilled = false }: { readonly wasKilled?: boolean } = {}) {
    super(message)
    this.wasKilled = wasKilled
  }
}

/** Returns an understandable error for an error of the file system. Returns any other error unchanged. */
export function explainFileError(error: unknown, dataDir: string): Error {
  const { code, message, path } = error as NodeJS.ErrnoException
  // The message may come from a service that could not start, so it is searched for the words of several stores.
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
  // Missing folders are created. ENOENT below the data folder means that no folder can be created there.
  const isImpossible = code === 'ENOENT' && path !== undefined && path.startsWith(dataDir)
  if (code !== undefined && (refusals.includes(code) || isImpossible)) {
    return new StartRefusedError(
      `Cannot write to the data folder ${dataDir} (${code}). Choose another with TOLLGATE_DATA_DIR.`,
    )
  }
  const known = error instanceof Error ? error : new Error(String(error))
  return known.name === 'DataFolderError' ? new StartRefusedError(known.message) : known
}
