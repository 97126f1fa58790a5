import { cpus, totalmem } from 'node:os'

export type Machine = {
  readonly processor: string
  readonly cores: number
  readonly memoryGiB: number
}

export function readMachine(): Machine {
  const [first] = cpus()
  return {
    processor: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  }
}

export function machineText({ processor, cores, memoryGiB }: Machine): string {
  return `${cores} x ${processor}, ${memoryGiB} GiB`
}
