import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { HostedParts } from '@tollgate/domain/sessions/hosted-parts'
import type { ChangeParts } from '../../access/commit.ts'
import type { CustomerAuthSetup } from '../../customer-auth/customer-auth-parts.ts'
import type { FrameParts } from '../frame.ts'
import type { ProviderFrame } from '../provider/provider-page.tsx'

/** The parts of the pages on which customers sign in. */
export type SignInPageParts = FrameParts & ChangeParts & HostedParts

/** The parts of the page that shows stored mail in installations without a mail server. */
export type InboxParts = ProviderFrame & {
  readonly publisher: PublisherParts
  readonly customerAuth: CustomerAuthSetup
}
