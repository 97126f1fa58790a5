import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'

/** How to start a PostgreSQL program: the words before it on the command line, and the account. */
export type Launcher = {
  readonly prefix: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

export type LaunchPlace = {
  readonly folder: string
  /** The data folder, which may not exist yet. */
  readonly dataFolder: string
  readonly postgres: string
}

/** Returns the launcher of `chooseAccount`, extended so that the server shuts down when its parent process has exited. */
export function chooseLauncher(place: LaunchPlace): Launcher {
  const account = chooseAccount(place)
  return { ...account, prefix: [...account.prefix, ...followParent('INT')] }
}

/**
 * Chooses the account of the server. PostgreSQL refuses to run as root, so for root, in this order:
 * 1. a user namespace that maps root to another id: files still belong to root, and no path must be opened to other users;
 * 2. the system's `postgres` user, if it can reach the folder and the program;
 * 3. an error that says what to do.
 * If the data folder exists and belongs to another user, that user is used.
 */
export function chooseAccount(place: LaunchPlace): Launcher {
  if (process.getuid?.() !== 0) return { prefix: [] }
  const owner = existsSync(place.dataFolder) ? statSync(place.dataFolder) : undefined
  if (owner !== undefined && owner.uid !== 0) {
    return { prefix: [], uid: owner.uid, gid: owner.gid }
  }
  const namespace = userNamespace()
  if (namespace !== undefined) return { prefix: namespace }
  const user = accounts().find(({ name }) => name === 'postgres')
  if (owner === undefined && user !== undefined && isReachable(place, user)) {
    return { prefix: [], uid: user.uid, gid: user.gid }
  }
  throw new Error(
    'PostgreSQL does not run as root, and neither a user namespace nor a user named postgres that can reach ' +
      `${place.folder} is available: start Tollgate as a normal user, or give the address of a PostgreSQL server.`,
  )
}

/** Returns whether PostgreSQL must run as another user than this process. That user must be able to reach the folder. */
export function needsOtherUser(dataFolder: string): boolean {
  if (process.getuid?.() !== 0) return false
  if (existsSync(dataFolder)) return statSync(dataFolder).uid !== 0
  return userNamespace() === undefined
}

/**
 * Returns the prefix that sends the signal to the program when its parent process has exited for any reason. Empty if not
 * available, as on systems other than Linux.
 */
export function followParent(signal: 'INT' | 'KILL'): readonly string[] {
  const prefix = ['setpriv', '--pdeathsig', signal, '--']
  return canRun(prefix) ? prefix : []
}

function userNamespace(): readonly string[] | undefined {
  // initdb looks up the name of its user, so the id must belong to an account.
  const uid = accounts().find((account) => account.uid !== 0 && account.uid !== 65_534)?.uid
  const prefix = ['unshare', '--user', `--map-user=${uid ?? 65_534}`, '--']
  return canRun(prefix) ? prefix : undefined
}

function canRun(prefix: readonly string[]): boolean {
  const [command = '', ...rest] = prefix
  return spawnSync(command, [...rest, 'true'], { stdio: 'ignore' }).status === 0
}

type Account = { readonly name: string; readonly uid: number; readonly gid: number }

function accounts(): Account[] {
  let text: string
  try {
    text = readFileSync('/etc/passwd', 'utf8')
  } catch {
    return []
  }
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}

function isReachable(place: LaunchPlace, { uid, gid }: Account): boolean {
  const script = 'cd "$0/.." && test -x "$1"'
  const probe = spawnSync('sh', ['-c', script, place.folder, place.postgres], { uid, gid })
  return probe.status === 0
}
