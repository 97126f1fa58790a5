import { operation, type DescribedOperation } from './described-operation.ts'

/** Operations of emails to customers. */
export const describedEmailOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/ui/email-settings': operation('getEmailSettings', 'Get the email settings'),
  'patch /v1/ui/email-settings': operation('updateEmailSettings', 'Change the email settings'),
  'get /v1/ui/email-previews/{emailKind}': operation('previewEmail', 'Preview an email'),
  'get /v1/ui/emails': operation('listEmails', 'List emails'),
  'get /v1/ui/emails/{emailId}': operation('getEmail', 'Get an email', 404),
  'post /v1/ui/emails/{emailId}/resend': operation('resendEmail', 'Send an email again', 404, 409),
  'get /v1/ui/email-suppressions': operation(
    'listEmailSuppressions',
    'List suppressed email addresses',
  ),
  'post /v1/ui/email-suppressions': operation('suppressEmail', 'Suppress an email address'),
  'delete /v1/ui/email-suppressions/{suppressionId}': operation(
    'removeEmailSuppression',
    'Remove a suppression',
    404,
  ),
}
