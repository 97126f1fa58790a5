export { commitAndPublish as commit } from '@tollgate/domain/publishing/commit-and-publish'
