import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { processTree } from '../instance/process-tree.ts'

const run = promisify(execFile)

/** Returns the CPU time that a process and its threads have used, in seconds. Works on Linux only. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // The name of the program may contain spaces, so the fields are counted after its closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return ticks / (await ticksPerSecond())
}

/** Returns the CPU time of a process and all its living descendants. */
export async function treeProcessorSeconds(rootPid: number): Promise<number> {
  const seconds = (await processTree(rootPid)).map((pid) => processorSeconds(pid))
  return (await Promise.all(seconds)).reduce((sum, each) => sum + each, 0)
}

let ticks: Promise<number> | undefined

function ticksPerSecond(): Promise<number> {
  ticks ??= run('getconf', ['CLK_TCK']).then(({ stdout }) => Number(stdout))
  return ticks
}
