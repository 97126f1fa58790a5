/*
 * `npm run smoke:nodes`: one walk through a whole installation (deploy/src/smoke) on each supported version of Node that
 * is not the installed one, which `npm test` covers. Each is a package of npm, which is kept in node_modules/.cache.
 * `npm run smoke:nodes -- 24` runs the named lines alone, the installed one too.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { supportedLines } from './node-versions.mjs'
import { npmCommand, prepare } from './prepare.mjs'

/** The release of each line that the smoke runs on. Raise them together with the image's. */
const releases = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }

const root = fileURLToPath(new URL('..', import.meta.url))
const installedMajor = Number(process.versions.node.split('.')[0])
const majors = supportedLines.map(([major]) => major)
const named = process.argv.slice(2).map(Number)
const unknown = named.filter((major) => !majors.includes(major))
if (unknown.length > 0) {
  console.error(
    `The supported versions of Node are ${majors.join(', ')}: not ${unknown.join(', ')}.`,
  )
  process.exit(1)
}
const chosen = named.length > 0 ? named : majors.filter((major) => major !== installedMajor)

await prepare({ development: true })
const failed = chosen.filter((major) => !smoke(releases[major]))
if (failed.length > 0) {
  console.error(`Smoke failed on Node ${failed.map((major) => releases[major]).join(', ')}.`)
  process.exit(1)
}
console.log(`Smoke passed on Node ${chosen.map((major) => releases[major]).join(', ')}.`)

function smoke(release) {
  const bin = install(release)
  console.log(`Node ${release}:`)
  const { status } = spawnSync(join(bin, 'node'), [join(root, 'deploy/dist/smoke/main.js')], {
    // First on the path as well: a part that starts `node` by its name gets the same one.
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return status === 0
}

/** Returns the folder of its programs. */
function install(release) {
  const folder = join(root, 'node_modules/.cache/tollgate-nodes', release)
  const bin = join(folder, 'node_modules/.bin')
  if (existsSync(join(bin, 'node'))) return bin
  console.log(`Installing Node ${release} from npm ...`)
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
