import { readCredentials, type Credentials } from '@tollgate/deploy/standalone/credentials'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'
import { readRunFile } from '@tollgate/deploy/standalone/run-file'
import { startInstance } from './instance.ts'
import { makeTemporaryFolder } from '@tollgate/deploy/standalone/temporary-folder'

export type FoundInstance = {
  readonly credentials: Credentials
  /** Stops and removes an instance that was started for this run. Does nothing to one that was already running. */
  release(): Promise<void>
}

/** Returns the instance that runs on the folder, or starts one on a temporary folder. */
export async function findInstance(
  dataDir: string,
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
): Promise<FoundInstance> {
  const folder = dataFolderAt(dataDir)
  const running = await readRunFile(folder.runFile)
  if (running && isAlive(running.supervisorPid)) {
    const credentials = await readCredentials(folder.credentialsFile)
    if (credentials) {
      print(`Using the instance at ${running.baseUrl} (data in ${dataDir}).`)
      return { credentials: { ...credentials, baseUrl: running.baseUrl }, release: async () => {} }
    }
  }
  print('No instance runs here; starting one on a temporary folder (npm start keeps one) ...')
  const temporary = await makeTemporaryFolder('demo')
  const instance = await startInstance({ dataDir: temporary.path, port: 0, environment })
  return {
    credentials: instance.credentials,
    async release() {
      await instance.stop()
      await temporary.remove()
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
