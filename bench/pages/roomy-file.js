// A file in memory for @bjorn3/browser_wasi_shim that grows as vectors do. The shim's own has room for exactly its bytes: each
// append copies all that is there, which for a store's pack adds up to the square of its size.

/** The class, over a copy of the shim's module. */
export function roomyFiles({ File, OpenFile }) {
  class OpenRoomyFile extends OpenFile {
    fd_write(bytes) {
      const { ret, nwritten } = this.fd_pwrite(bytes, this.file_pos);
      this.file_pos += BigInt(nwritten);
      return { ret, nwritten };
    }

    fd_pwrite(bytes, offset) {
      if (!this.file.readonly) this.file.reserve(Number(offset) + bytes.byteLength);
      return super.fd_pwrite(bytes, offset);
    }
  }

  return class RoomyFile extends File {
    path_open(...how) {
      const { ret, fd_obj: opened } = super.path_open(...how);
      if (!opened) return { ret, fd_obj: opened };
      const roomy = new OpenRoomyFile(this);
      roomy.file_pos = opened.file_pos;
      return { ret, fd_obj: roomy };
    }

    /** Makes the file at least so long; what is new is zero. */
    reserve(size) {
      const { data } = this;
      if (size <= data.byteLength) return;
      let { buffer } = data;
      if (size > buffer.byteLength) {
        buffer = new ArrayBuffer(Math.max(size, 2 * buffer.byteLength));
        new Uint8Array(buffer).set(data);
      }
      this.data = new Uint8Array(buffer, 0, size);
    }
  };
}
