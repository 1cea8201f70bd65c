export type { LinkQueue, Place, RoomReading, Rooms } from './rooms.ts'
export { RoomsInProcess } from './rooms-in-process.ts'
export { SharedRooms } from './shared-rooms.ts'
