import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'

/** How to start a PostgreSQL program: what stands before it on the command line, and as whom. */
export type Launcher = {
  readonly prefix: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

export type LaunchPlace = {
  readonly folder: string
  /** May not exist yet. */
  readonly dataFolder: string
  readonly postgres: string
}

/** `chooseAccount`, and the server shuts down when the process that started it is gone. */
export function chooseLauncher(place: LaunchPlace): Launcher {
  const account = chooseAccount(place)
  return { ...account, prefix: [...account.prefix, ...followParent('INT')] }
}

/**
 * PostgreSQL refuses to run as root. For root, in this order:
 * 1. a user namespace, in which root goes by another number: files stay root's, no path needs to be opened to others;
 * 2. the system's `postgres` user, which must be able to reach the folder and the program;
 * 3. a sentence that says what to do.
 * An existing data folder that belongs to somebody else decides for its owner.
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

/** Whether PostgreSQL has to run as another user than this process, which must then be able to reach its folder. */
export function needsOtherUser(dataFolder: string): boolean {
  if (process.getuid?.() !== 0) return false
  if (existsSync(dataFolder)) return statSync(dataFolder).uid !== 0
  return userNamespace() === undefined
}

/** Linux only: the program gets the signal when the process that started it is gone, however that ended. */
export function followParent(signal: 'INT' | 'KILL'): readonly string[] {
  const prefix = ['setpriv', '--pdeathsig', signal, '--']
  return works(prefix) ? prefix : []
}

function userNamespace(): readonly string[] | undefined {
  // initdb asks for the name of its user, so it has to be a number that has one.
  const uid = accounts().find((account) => account.uid !== 0 && account.uid !== 65_534)?.uid
  const prefix = ['unshare', '--user', `--map-user=${uid ?? 65_534}`, '--']
  return works(prefix) ? prefix : undefined
}

function works(prefix: readonly string[]): boolean {
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
