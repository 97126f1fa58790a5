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
  /** Its path; undefined when it is not there, or too old. */
  readonly find: () => Promise<string | undefined>
}

/** The broker and the registry run on this and all later versions. */
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

const looking = new Map<ProgramName, Promise<string>>()

/**
 * The path of the program. Installed when it is missing and this is root on Debian; else one line says what to do.
 * Engines that start together and need the same one wait for the same install.
 */
export function requireProgram(name: ProgramName, say: (line: string) => void): Promise<string> {
  const known = looking.get(name)
  if (known) return known
  const found = findOrInstall(name, say).finally(() => looking.delete(name))
  looking.set(name, found)
  return found
}

async function findOrInstall(name: ProgramName, say: (line: string) => void): Promise<string> {
  const { debianPackage, find } = programs[name]
  const found = await find()
  if (found !== undefined) return found
  if (canInstallPackages()) {
    await installPackage(debianPackage, say)
    const installed = await find()
    if (installed !== undefined) return installed
  }
  throw new StartRefusedError(
    `${name} is missing${name === 'java' ? ` or older than ${javaVersionMin}` : ''}: ` +
      `install it (on Debian: apt-get install ${debianPackage}) and try again.`,
  )
}

/** What a start of all engines would ask a person to install. */
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

/** Debian keeps it among the programs of the administrator, which are not in everybody's search path. */
async function findNats(): Promise<string | undefined> {
  const debian = '/usr/sbin/nats-server'
  return existsSync(debian) ? debian : await findInPath('nats-server')
}

/** What `java` stands for, which may be a script of a version manager. */
async function findJava(): Promise<string | undefined> {
  const question = ['-XshowSettings:properties', '-version']
  const { stderr } = await run('java', question).catch(() => ({ stderr: '' }))
  const home = /^\s*java\.home = (.+)$/m.exec(stderr)?.[1]
  const version = Number(/^\s*java\.specification\.version = (\d+)$/m.exec(stderr)?.[1])
  return home !== undefined && version >= javaVersionMin ? join(home, 'bin', 'java') : undefined
}

/** Debian keeps the server's programs apart from the search path, one folder per major version. */
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
