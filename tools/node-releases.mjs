/*
 * The releases of Node that tests run on beside the installed one. Each is a package of npm, which is kept in
 * node_modules/.cache. As a command, `node tools/node-releases.mjs 22` prints the path of that line's program.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from '../deploy/prepare.mjs'

/** Raise them together with the image's. */
export const releases = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }

const root = fileURLToPath(new URL('..', import.meta.url))

/** Installs the release where it is missing, and returns the folder of its programs. Ends the process if it cannot. */
export function installNode(release) {
  const folder = join(root, 'node_modules/.cache/tollgate-nodes', release)
  const bin = join(folder, 'node_modules/.bin')
  if (existsSync(join(bin, 'node'))) return bin
  console.error(`Installing Node ${release} from npm ...`)
  mkdirSync(folder, { recursive: true })
  // A package of its own, so that npm does not take ours for it.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const parameters = ['install', '--no-audit', '--no-fund', '--loglevel=error', packageOf(release)]
  const { status, error, stdout, stderr } = spawnSync(npmCommand(), parameters, { cwd: folder })
  if (status === 0 && existsSync(join(bin, 'node'))) return bin
  console.error(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`)
  console.error(`Could not install Node ${release} from npm.`)
  process.exit(1)
}

/** The package that carries the program of this platform. The package `node` itself would fetch it by an install script. */
function packageOf(release) {
  const { platform, arch } = process
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${platform === 'win32' ? 'win' : platform}-${arch}@${release}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const release = releases[process.argv[2]]
  if (release === undefined) {
    console.error(`Name one of the lines ${Object.keys(releases).join(', ')}.`)
    process.exit(1)
  }
  console.log(join(installNode(release), 'node'))
}
