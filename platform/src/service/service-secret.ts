import { secretSetting } from '../config/settings.ts'
import { readFolderSecret } from './folder-secret.ts'

/** 256 bits in base64url are 43 characters; 32 leave room for other spellings of 128 bits and more. */
const secretCharsMin = 32

/** Secret from which the keys between the services of one installation are derived (domain/src/api-keys/service-key.ts). */
export const serviceSecretSettings = {
  serviceSecret: secretSetting(
    'TOLLGATE_SERVICE_SECRET',
    'Secret that ingest, the control plane and the MCP proxy share, at least 32 characters; services of one data folder need none',
    (text) => {
      if (text === '' || text.length >= secretCharsMin) return text
      throw new Error(`must have at least ${secretCharsMin} characters`)
    },
  ),
}

export type ServiceSecretConfig = {
  readonly serviceSecret: string
  readonly dataDir: string
}

/** Returns the configured secret, or else the secret of the data folder. Returns undefined if the service has neither. */
export async function findServiceSecret({
  serviceSecret,
  dataDir,
}: ServiceSecretConfig): Promise<string | undefined> {
  if (serviceSecret !== '') return serviceSecret
  return dataDir === '' ? undefined : readFolderSecret(dataDir)
}
