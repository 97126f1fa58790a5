/*
 * Runs `npm start` and the other commands that need the built code: `node deploy/start.mjs [command] [arguments]`. A command is a
 * folder with a main.ts in the `src` of its workspace. Missing packages and builds are prepared first. The program then runs in
 * this process, so that it receives signals and sets the exit code of `npm`.
 */
import { prepare } from './prepare.mjs'

/** The workspace of each command. */
const workspaces = {
  standalone: 'deploy',
  demo: 'tools',
  bench: 'tools',
  chaos: 'tools',
  hostile: 'tools',
  corpus: 'tools',
  tollgate: 'deploy',
  engines: 'tools',
}
const given = process.argv.slice(2)
// Options of `npm start -- …` belong to the program that it starts.
const isNamed = given.length > 0 && !given[0].startsWith('-')
const [command, ...parameters] = isNamed ? given : ['standalone', ...given]
if (!Object.hasOwn(workspaces, command)) {
  console.error(`Unknown command ${command}. Commands: ${Object.keys(workspaces).join(', ')}.`)
  process.exit(1)
}
// The benchmark compares Kafka clients that only it uses.
await prepare({ development: command === 'bench', tools: workspaces[command] === 'tools' })

const built = workspaces[command] === 'deploy' ? 'dist/bundled' : 'dist'
const program = new URL(`../${workspaces[command]}/${built}/${command}/main.js`, import.meta.url)
process.argv.splice(1, process.argv.length, program.pathname, ...parameters)
process.setSourceMapsEnabled(true)
await import(program.href)
