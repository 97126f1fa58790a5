/*
 * `npm run smoke:nodes`: one walk through a whole installation (tools/src/smoke) on each supported version of Node that
 * is not the installed one, which `npm test` covers. Each is a package of npm, which is kept in node_modules/.cache.
 * `npm run smoke:nodes -- 24` runs the named lines alone, the installed one too.
 */
import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { supportedLines } from '../deploy/node-versions.mjs'
import { prepare } from '../deploy/prepare.mjs'
import { installNode, releases } from './node-releases.mjs'

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
  const bin = installNode(release)
  console.log(`Node ${release}:`)
  const { status } = spawnSync(join(bin, 'node'), [join(root, 'tools/dist/smoke/main.js')], {
    // First on the path as well: a part that starts `node` by its name gets the same one.
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return status === 0
}
