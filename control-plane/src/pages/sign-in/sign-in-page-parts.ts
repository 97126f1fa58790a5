import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { ChangeParts } from '../../access/commit.ts'
import type { CustomerAuthSetup } from '../../customer-auth/customer-auth-parts.ts'
import type { FrameParts } from '../frame.ts'
import type { ProviderFrame } from '../provider/provider-page.tsx'

/** What the pages work with on which customers sign in. */
export type SignInPageParts = FrameParts & ChangeParts & HostedParts

/** What the page works with that shows messages in place of a mail server. */
export type InboxParts = ProviderFrame & {
  readonly publisher: PublisherParts
  readonly customerAuth: CustomerAuthSetup
}
