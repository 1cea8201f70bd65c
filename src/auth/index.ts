export {
  explainAdminLogin,
  KeyRing,
  requireActive,
  unauthorizedHeaders,
} from './key-ring.ts'
export { type MasterKey, MasterKeyError, openMasterKey } from './master-key.ts'
export { checkMasterKey, MasterKeyMismatchError } from './master-key-check.ts'
export { rotateMasterKey } from './master-key-rotation.ts'
export { mintKey, newGroupId, newKeyId, parseGroupId, parseKeyId } from './mint.ts'
