import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { canInstallPackages, installPackage } from './debian-packages.ts'

const run = promisify(execFile)

type Program = {
  readonly debianPackage: string
  /** Returns the path of the program, or undefined if it is missing or too old. */
  readonly find: () => Promise<string | undefined>
}

/** Minimum version of Java for the broker and the registry. */
const javaVersionMin = 17

const programs = {
  java: { debianPackage: 'default-jre-headless', find: findJava },
  mvn: { debianPackage: 'maven', find: () => findInPath('mvn') },
  'redis-server': { debianPackage: 'redis-server', find: () => findInPath('redis-server') },
  'redis-cli': { debianPackage: 'redis-tools', find: () => findInPath('redis-cli') },
  'nats-server': { debianPackage: 'nats-server', find: findNats },
  postgres: { debianPackage: 'postgresql', find: findPostgres },
} satisfies Record<string, Program>

export type ProgramName = keyof typeof programs

const searches = new Map<ProgramName, Promise<string>>()

/**
 * Returns the path of the program. Installs it if it is missing and the process is root on Debian. Otherwise throws a line that
 * says what to do. Engines that start together and need the same program wait for the same installation.
 */
export function requireProgram(name: ProgramName, print: (line: string) => void): Promise<string> {
  const known = searches.get(name)
  if (known) return known
  const found = findOrInstall(name, print).finally(() => searches.delete(name))
  searches.set(name, found)
  return found
}

async function findOrInstall(name: ProgramName, print: (line: string) => void): Promise<string> {
  const { debianPackage, find } = programs[name]
  const found = await find()
  if (found !== undefined) return found
  if (canInstallPackages()) {
    await installPackage(debianPackage, print)
    const installed = await find()
    if (installed !== undefined) return installed
  }
  throw new StartRefusedError(
    `${name} is missing${name === 'java' ? ` or older than ${javaVersionMin}` : ''}: ` +
      `install it (on Debian: apt-get install ${debianPackage}) and try again.`,
  )
}

/** Returns the programs that a user must install before all engines can start. */
export async function missingPrograms(): Promise<ProgramName[]> {
  if (canInstallPackages()) return []
  const names = Object.keys(programs) as ProgramName[]
  const found = await Promise.all(names.map((name) => programs[name].find()))
  return names.filter((_, index) => found[index] === undefined)
}

async function findInPath(name: string): Promise<string | undefined> {
  const { stdout } = await run('sh', ['-c', 'command -v "$0"', name]).catch(() => ({ stdout: '' }))
  return stdout.trim() || undefined
}

/** Debian installs it in a folder for administrators, which is not in every search path. */
async function findNats(): Promise<string | undefined> {
  const debian = '/usr/sbin/nats-server'
  return existsSync(debian) ? debian : await findInPath('nats-server')
}

/** Returns the path of the real Java program. `java` itself may be a script of a version manager. */
async function findJava(): Promise<string | undefined> {
  const parameters = ['-XshowSettings:properties', '-version']
  const { stderr } = await run('java', parameters).catch(() => ({ stderr: '' }))
  const home = /^\s*java\.home = (.+)$/m.exec(stderr)?.[1]
  const version = Number(/^\s*java\.specification\.version = (\d+)$/m.exec(stderr)?.[1])
  return home !== undefined && version >= javaVersionMin ? join(home, 'bin', 'java') : undefined
}

/** Debian installs the server's programs outside the search path, in one folder per major version. */
async function findPostgres(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql'
  const versions = (await readdir(root).catch(() => [])).map(Number).filter(Number.isInteger)
  for (const version of versions.sort((a, b) => b - a)) {
    const found = join(root, String(version), 'bin', 'postgres')
    if (existsSync(found)) return found
  }
  const inPath = await findInPath('postgres')
  return inPath === undefined ? undefined : await realpath(inPath)
}
