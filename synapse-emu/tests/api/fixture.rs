//! Short ways to graphs, cards and launches.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use habana_sys::*;

use crate::syn::Table;
use crate::{ok, syn};

pub const BF16: synDataType = synDataType::syn_type_bf16;
pub const F32: synDataType = synDataType::syn_type_single;
pub const I32: synDataType = synDataType::syn_type_int32;
pub const I8: synDataType = synDataType::syn_type_int8;

/// A graph that is being built.
pub struct Graph<'a> {
    pub table: Table<'a>,
    pub handle: synGraphHandle,
}

pub fn geometry(sizes: &[u64]) -> synTensorGeometry {
    let mut geometry = synTensorGeometry { dims: sizes.len() as u32, ..Default::default() };
    geometry.sizes[..sizes.len()].copy_from_slice(sizes);
    geometry
}

impl<'a> Graph<'a> {
    pub fn new(table: Table<'a>) -> Self {
        Self::on(table, synDeviceType::synDeviceGaudi2)
    }

    pub fn on(table: Table<'a>, device_type: synDeviceType) -> Self {
        let mut handle = null_mut();
        ok!(table, synGraphCreate(&mut handle, device_type));
        Self { table, handle }
    }

    pub fn section(&self) -> synSectionHandle {
        let mut section = null_mut();
        ok!(self.table, synSectionCreate(&mut section, 0, self.handle));
        section
    }

    /// A tensor with a name alone.
    pub fn bare(&self, name: &str) -> synTensor {
        let mut tensor = null_mut();
        let name = CString::new(name).unwrap();
        ok!(
            self.table,
            synTensorHandleCreate(&mut tensor, self.handle, synTensorType::DATA_TENSOR, name.as_ptr())
        );
        tensor
    }

    pub fn tensor(&self, name: &str, dtype: synDataType, sizes: &[u64]) -> synTensor {
        let tensor = self.bare(name);
        ok!(self.table, synTensorSetGeometry(tensor, &geometry(sizes), synGeometryType::synGeometryMaxSizes));
        ok!(self.table, synTensorSetDeviceDataType(tensor, dtype));
        tensor
    }

    /// In a section of its own.
    pub fn persistent(&self, name: &str, dtype: synDataType, sizes: &[u64]) -> synTensor {
        self.placed(name, dtype, sizes, self.section(), 0)
    }

    pub fn placed(
        &self,
        name: &str,
        dtype: synDataType,
        sizes: &[u64],
        section: synSectionHandle,
        offset: u64,
    ) -> synTensor {
        let tensor = self.tensor(name, dtype, sizes);
        ok!(self.table, synTensorAssignToSection(tensor, section, offset));
        tensor
    }

    /// The node's id.
    pub fn node(&self, guid: &str, inputs: &[synTensor], outputs: &[synTensor], params: &[u8]) -> u64 {
        let (status, id) = self.try_node(guid, inputs, outputs, params);
        assert_eq!(status, synStatus::synSuccess, "{guid}");
        id
    }

    pub fn try_node(
        &self,
        guid: &str,
        inputs: &[synTensor],
        outputs: &[synTensor],
        params: &[u8],
    ) -> (synStatus, u64) {
        let name = CString::new(guid).unwrap();
        let mut id = 0;
        let status = syn!(
            self.table,
            synNodeCreateWithId(
                self.handle,
                inputs.as_ptr(),
                outputs.as_ptr(),
                inputs.len() as u32,
                outputs.len() as u32,
                params.as_ptr().cast(),
                params.len() as u32,
                name.as_ptr(),
                name.as_ptr(),
                &mut id,
                null_mut(),
                null_mut(),
            )
        );
        (status, id)
    }

    pub fn try_compile(&self) -> Result<synRecipeHandle, synStatus> {
        let mut recipe = null_mut();
        match syn!(self.table, synGraphCompile(&mut recipe, self.handle, c"recipe".as_ptr(), null())) {
            synStatus::synSuccess => Ok(recipe),
            status => Err(status),
        }
    }

    pub fn compile(&self) -> synRecipeHandle {
        self.try_compile().unwrap()
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        syn!(self.table, synGraphDestroy(self.handle));
    }
}

/// A recipe that copies `elements` float32 numbers from `from` to `to`.
pub fn copying(table: Table<'_>, elements: u64) -> synRecipeHandle {
    let graph = Graph::new(table);
    let from = graph.persistent("from", F32, &[elements]);
    let to = graph.persistent("to", F32, &[elements]);
    graph.node("memcpy", &[from], &[to], &[]);
    graph.compile()
}

/// An acquired card with a stream.
pub struct Card<'a> {
    pub table: Table<'a>,
    pub id: synDeviceId,
    pub stream: synStreamHandle,
}

impl<'a> Card<'a> {
    /// The first one, of the initialized library.
    pub fn new(table: Table<'a>) -> Self {
        Self::module(table, 0)
    }

    pub fn module(table: Table<'a>, module: u32) -> Self {
        let mut id = u32::MAX;
        ok!(table, synDeviceAcquireByModuleId(&mut id, module));
        let mut card = Self { table, id, stream: null_mut() };
        card.stream = card.new_stream();
        card
    }

    pub fn new_stream(&self) -> synStreamHandle {
        let mut stream = null_mut();
        ok!(self.table, synStreamCreateGeneric(&mut stream, self.id, 0));
        stream
    }

    pub fn event(&self, flags: u32) -> synEventHandle {
        let mut event = null_mut();
        ok!(self.table, synEventCreate(&mut event, self.id, flags));
        event
    }

    pub fn malloc(&self, bytes: u64) -> u64 {
        let mut address = 0;
        ok!(self.table, synDeviceMalloc(self.id, bytes, 0, 0, &mut address));
        address
    }

    /// Host memory for as long as the card is acquired.
    pub fn host(&self, bytes: u64) -> *mut c_void {
        let mut pointer = null_mut();
        ok!(self.table, synHostMalloc(self.id, bytes, 0, &mut pointer));
        pointer
    }

    pub fn synchronize(&self) {
        ok!(self.table, synStreamSynchronize(self.stream));
    }

    pub fn write(&self, address: u64, bytes: &[u8]) {
        let host = self.host(bytes.len() as u64);
        // SAFETY: as many bytes were allocated.
        unsafe { host.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        let source = host as u64;
        let size = bytes.len() as u64;
        ok!(self.table, synMemCopyAsync(self.stream, source, size, address, synDmaDir::HOST_TO_DRAM));
        self.synchronize();
        ok!(self.table, synHostFree(self.id, host, 0));
    }

    pub fn upload(&self, bytes: &[u8]) -> u64 {
        let address = self.malloc(bytes.len() as u64);
        self.write(address, bytes);
        address
    }

    pub fn download(&self, address: u64, size: u64) -> Vec<u8> {
        let host = self.host(size);
        ok!(self.table, synMemCopyAsync(self.stream, address, size, host as u64, synDmaDir::DRAM_TO_HOST));
        self.synchronize();
        // SAFETY: as many bytes were allocated.
        let bytes = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), size as usize) }.to_vec();
        ok!(self.table, synHostFree(self.id, host, 0));
        bytes
    }

    /// Gives a stream more to do than happens while one question is answered.
    pub fn occupy(&self, stream: synStreamHandle) {
        let bytes = 1 << 20;
        let address = self.malloc(bytes);
        for value in 0..200 {
            ok!(self.table, synMemsetD32Async(address, value, bytes / 4, stream));
        }
        ok!(self.table, synDeviceFree(self.id, address, 0));
    }

    /// Launches with tensors of (name, address, sizes); the workspace is allocated and stays.
    pub fn try_launch(&self, recipe: synRecipeHandle, tensors: &[(&str, u64, &[u64])]) -> synStatus {
        let mut bytes = 0;
        ok!(self.table, synWorkspaceGetSize(&mut bytes, recipe));
        let workspace = if bytes > 0 { self.malloc(bytes) } else { 0 };
        let infos: Vec<_> =
            tensors.iter().map(|&(name, address, sizes)| self.info(recipe, name, address, sizes)).collect();
        syn!(self.table, synLaunch(self.stream, infos.as_ptr(), infos.len() as u32, workspace, recipe, 0))
    }

    pub fn info(
        &self,
        recipe: synRecipeHandle,
        name: &str,
        address: u64,
        sizes: &[u64],
    ) -> synLaunchTensorInfo {
        let name = CString::new(name).unwrap();
        let mut info = synLaunchTensorInfo { pTensorAddress: address, ..Default::default() };
        ok!(self.table, synTensorRetrieveIds(recipe, &mut name.as_ptr(), &mut info.tensorId, 1));
        info.tensorSize[..sizes.len()].copy_from_slice(sizes);
        if sizes.len() == 1 {
            info.tensorSize[1] = 1;
        }
        info
    }

    pub fn launch(&self, recipe: synRecipeHandle, tensors: &[(&str, u64, &[u64])]) {
        assert_eq!(self.try_launch(recipe, tensors), synStatus::synSuccess);
        self.synchronize();
    }
}

/// Gives settings in the process, for the next initialization.
pub fn configure(table: Table<'_>, settings: &[(&str, &str)]) {
    for (name, value) in settings {
        let (name, value) = (CString::new(*name).unwrap(), CString::new(*value).unwrap());
        ok!(table, synConfigurationSet(name.as_ptr(), value.as_ptr()));
    }
}

pub fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
