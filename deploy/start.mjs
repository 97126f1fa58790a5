/*
 * `npm start`, and the other commands that need the built code: `node deploy/start.mjs [command] [arguments]`, where a
 * command is a folder with a main.ts in the `src` of its workspace. Prepares what is missing, then becomes that program:
 * it runs in this very process, so signals reach it and its exit code is the exit code of `npm`.
 */
import { prepare } from './prepare.mjs'

/** The workspace of each command. */
const workspaces = {
  standalone: 'deploy',
  demo: 'tools',
  bench: 'tools',
  chaos: 'tools',
  hostile: 'tools',
  tollgate: 'deploy',
  engines: 'tools',
}
const given = process.argv.slice(2)
// What `npm start -- …` is given are options of the program it starts.
const isNamed = given.length > 0 && !given[0].startsWith('-')
const [command, ...parameters] = isNamed ? given : ['standalone', ...given]
if (!Object.hasOwn(workspaces, command)) {
  console.error(`Unknown command ${command}. There are: ${Object.keys(workspaces).join(', ')}.`)
  process.exit(1)
}
// The bench compares Kafka clients that only it uses.
await prepare({ development: command === 'bench', tools: workspaces[command] === 'tools' })

const program = new URL(`../${workspaces[command]}/dist/${command}/main.js`, import.meta.url)
process.argv.splice(1, process.argv.length, program.pathname, ...parameters)
process.setSourceMapsEnabled(true)
await import(program.href)
