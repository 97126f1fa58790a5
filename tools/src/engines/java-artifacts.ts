import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { StartRefusedError } from '@tollgate/deploy/standalone/start-refused'
import { requireProgram } from './programs.ts'

export type JavaArtifacts = {
  /** All jars of a Kafka broker, in the form of `java -cp`. */
  readonly kafkaClassPath: string
  /** Jar of the registry for `java -jar`. */
  readonly registryJar: string
}

const localFolder = fileURLToPath(new URL('../../local', import.meta.url))
const progressMs = 5_000

let resolving: Promise<JavaArtifacts> | undefined

/** Returns the Java artifacts. Maven downloads them once per version of tools/local/pom.xml into tools/local/target. */
export function javaArtifacts(print: (line: string) => void): Promise<JavaArtifacts> {
  resolving ??= resolve(print).catch((error: unknown) => {
    // The next call may try again, because the network may then be available.
    resolving = undefined
    throw error
  })
  return resolving
}

async function resolve(print: (line: string) => void): Promise<JavaArtifacts> {
  const pom = join(localFolder, 'pom.xml')
  const version = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12)
  const folder = join(localFolder, 'target', version)
  if (!existsSync(folder)) await download(pom, folder, print)
  const registry = join(folder, 'registry')
  const jar = (await readdir(registry)).find((name) => name.endsWith('-runner.jar'))
  if (jar === undefined) throw new Error(`There is no runner jar in ${registry}.`)
  return { kafkaClassPath: join(folder, 'kafka', '*'), registryJar: join(registry, jar) }
}

/**
 * Downloads into a temporary folder and renames it at the end, so that an interrupted or concurrent download leaves no incomplete
 * folder.
 */
async function download(pom: string, folder: string, print: (line: string) => void): Promise<void> {
  const maven = await requireProgram('mvn', print)
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    print('Downloading Kafka and the schema registry with Maven (about 150 MB, once) ...')
    await runMaven(maven, pom, unfinished, print)
    await rename(unfinished, folder).catch((error: unknown) => {
      // If another process has created the folder meanwhile, it has the same content.
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

async function runMaven(
  maven: string,
  pom: string,
  folder: string,
  print: (line: string) => void,
): Promise<void> {
  const parameters = ['--batch-mode', '--file', pom, `-Dartifacts.folder=${folder}`]
  const child = spawn(maven, [...parameters, 'generate-resources'], {
    // Maven also prints its errors to standard output.
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let files = 0
  const errors: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    if (line.includes('Downloaded from')) files++
    if (line.includes('[ERROR]')) errors.push(line)
  })
  const progress = setInterval(
    () => print(`Maven: ${files} files downloaded so far ...`),
    progressMs,
  )
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    if (code === 0) return
    throw new StartRefusedError(
      `Maven could not download the engines (${pom}): ${errors[0] ?? `exit code ${code}`}`,
    )
  } finally {
    clearInterval(progress)
  }
}
