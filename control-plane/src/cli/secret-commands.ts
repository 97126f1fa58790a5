import { resealSecrets } from '@tollgate/domain/secrets/reseal-secrets'
import type { CliParts } from './open-cli-parts.ts'

export async function rotateSecretsCommand(parts: CliParts): Promise<void> {
  const resealed = await resealSecrets(
    parts.database,
    await parts.openSecrets(),
    parts.actorOf('secrets rotate'),
  )
  parts.print(`${resealed} secrets were sealed anew: the newest key alone opens all there are`)
}
