use std::ffi::{c_char, c_int, c_uint};

use gaudi_numerics::Generation;
use habana_sys::{
    synDeviceAttribute, synDeviceId, synDeviceInfo, synDeviceInfoV2, synDeviceType, synModuleId, synStatus,
};

use super::{api, pointer};
use crate::card::AFFINITIES;
use crate::generation::{alignment_bytes, device_type, of_device_type};
use crate::lock::lock;
use crate::memory::device::DRAM_BASE;
use crate::outcome::Outcome;
use crate::sizes::MAX_DIMS;
use crate::state::library::runtime;
use crate::state::runtime::Runtime;

/// What is known of a card without acquiring it.
struct Facts {
    generation: Generation,
    total_bytes: u64,
    free_bytes: u64,
}

impl Facts {
    fn sram_bytes(&self) -> u32 {
        match self.generation {
            Generation::Gaudi2 => 48 << 20,
            Generation::Gaudi3 => 96 << 20,
        }
    }

    fn tpc_mask(&self) -> u64 {
        match self.generation {
            Generation::Gaudi2 => (1 << 24) - 1,
            Generation::Gaudi3 => u64::MAX,
        }
    }

    fn name(&self) -> &'static str {
        match self.generation {
            Generation::Gaudi2 => "GAUDI2 (emulated)",
            Generation::Gaudi3 => "GAUDI3 (emulated)",
        }
    }

    /// `synUnsupported` for a clock, which an emulation does not have.
    fn attribute(&self, attribute: synDeviceAttribute) -> Outcome<u64> {
        Ok(match attribute {
            synDeviceAttribute::DEVICE_ATTRIBUTE_SRAM_BASE_ADDRESS => 0,
            synDeviceAttribute::DEVICE_ATTRIBUTE_DRAM_BASE_ADDRESS => DRAM_BASE,
            synDeviceAttribute::DEVICE_ATTRIBUTE_SRAM_SIZE => u64::from(self.sram_bytes()),
            synDeviceAttribute::DEVICE_ATTRIBUTE_DRAM_SIZE => self.total_bytes,
            synDeviceAttribute::DEVICE_ATTRIBUTE_DRAM_FREE_SIZE => self.free_bytes,
            synDeviceAttribute::DEVICE_ATTRIBUTE_TPC_ENABLED_MASK => self.tpc_mask(),
            synDeviceAttribute::DEVICE_ATTRIBUTE_DRAM_ENABLED => 1,
            synDeviceAttribute::DEVICE_ATTRIBUTE_DEVICE_TYPE => u64::from(device_type(self.generation).0),
            synDeviceAttribute::DEVICE_ATTRIBUTE_MAX_RMW_SIZE => u64::from(self.sram_bytes()),
            synDeviceAttribute::DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE => 0,
            synDeviceAttribute::DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE => alignment_bytes(self.generation),
            synDeviceAttribute::DEVICE_ATTRIBUTE_MAX_DIMS => MAX_DIMS as u64,
            synDeviceAttribute::DEVICE_ATTRIBUTE_CLK_RATE => return Err(synStatus::synUnsupported),
            _ => return Err(synStatus::synInvalidArgument),
        })
    }

    fn attributes(&self, attributes: &[synDeviceAttribute]) -> Outcome<Vec<u64>> {
        attributes.iter().map(|&attribute| self.attribute(attribute)).collect()
    }
}

/// What is known of a card that exists, acquired or not.
fn facts_of_module(runtime: &Runtime, module: u32) -> Outcome<Facts> {
    if module as usize >= runtime.config.cards {
        return Err(synStatus::synInvalidArgument);
    }
    let total_bytes = runtime.config.memory_bytes;
    let free_bytes = match runtime.card(module) {
        Ok(card) => lock(&card.memory).free_bytes(),
        Err(_) => total_bytes,
    };
    Ok(Facts { generation: runtime.config.generation, total_bytes, free_bytes })
}

/// What is known of an acquired card.
fn facts_of_device(runtime: &Runtime, device: u32) -> Outcome<Facts> {
    runtime.live_card(device)?;
    facts_of_module(runtime, device)
}

fn pci_address(module: usize) -> String {
    format!("0000:{:02x}:00.0", 0x19 + module)
}

fn cards_of_type(runtime: &Runtime, device_type: synDeviceType) -> u32 {
    // At most eight.
    if runtime.config.device_type() == device_type { runtime.config.cards as u32 } else { 0 }
}

api! {
    fn synDeviceGetCount(pCount: *mut u32) {
        let runtime = runtime()?;
        pointer::write(pCount, cards_of_type(&runtime, runtime.config.device_type()))
    }

    fn synDeviceGetCountByDeviceType(pCount: *mut u32, deviceType: synDeviceType) {
        let runtime = runtime()?;
        pointer::write(pCount, cards_of_type(&runtime, deviceType))
    }

    /// Counts by device type.
    fn synDeviceCount(count: *mut u32) {
        let runtime = runtime()?;
        let types = 0..synDeviceType::synDeviceTypeSize.0;
        let counts: Vec<_> = types.map(|number| cards_of_type(&runtime, synDeviceType(number))).collect();
        pointer::write_list(count, &counts)
    }

    /// `size` is the room in the list, then the number of ids.
    fn synDeviceGetModuleIDs(pDeviceModuleIds: *mut u32, size: *mut u32) {
        let runtime = runtime()?;
        let room = pointer::read(size)?;
        let ids: Vec<_> = (0..cards_of_type(&runtime, runtime.config.device_type())).collect();
        pointer::write(size, ids.len() as u32)?;
        if (room as usize) < ids.len() {
            return Err(synStatus::synInvalidArgument);
        }
        pointer::write_list(pDeviceModuleIds, &ids)
    }

    /// The first card that is free.
    fn synDeviceAcquireByDeviceType(pDeviceId: *mut synDeviceId, deviceType: synDeviceType) {
        let runtime = runtime()?;
        if cards_of_type(&runtime, deviceType) == 0 {
            return Err(synStatus::synNoDeviceFound);
        }
        acquire(&runtime, None, pDeviceId)
    }

    fn synDeviceAcquireByModuleId(pDeviceId: *mut synDeviceId, moduleId: synModuleId) {
        acquire(&*runtime()?, Some(moduleId as usize), pDeviceId)
    }

    /// By PCI address; an empty or missing one means any card.
    fn synDeviceAcquire(pDeviceId: *mut synDeviceId, pciBus: *const c_char) {
        let runtime = runtime()?;
        let module = match pointer::optional_text(pciBus)?.filter(|address| !address.is_empty()) {
            None => None,
            Some(address) => {
                let module = (0..runtime.config.cards).find(|&module| pci_address(module) == address);
                Some(module.ok_or(synStatus::synNoDeviceFound)?)
            }
        };
        acquire(&runtime, module, pDeviceId)
    }

    /// Waits for its work and takes back everything that was made on it.
    fn synDeviceRelease(deviceId: synDeviceId) {
        runtime()?.release(deviceId as usize)
    }

    /// The first error of any of its streams comes back.
    fn synDeviceSynchronize(deviceId: synDeviceId) {
        let runtime = runtime()?;
        let card = runtime.live_card(deviceId)?;
        let streams = runtime.streams.find_all(|stream| std::sync::Arc::ptr_eq(stream.card(), &card));
        let outcomes: Vec<_> = streams.iter().map(|stream| stream.synchronize()).collect();
        outcomes.into_iter().collect()
    }

    fn synDeviceGetName(pName: *mut c_char, len: c_int, deviceId: synDeviceId) {
        let facts = facts_of_device(&*runtime()?, deviceId)?;
        let capacity = u64::try_from(len).map_err(|_| synStatus::synInvalidArgument)?;
        pointer::write_text(pName, capacity, facts.name())
    }

    fn synDeviceGetPCIBusId(pPciBusId: *mut c_char, len: c_int, deviceId: synDeviceId) {
        let card = runtime()?.live_card(deviceId)?;
        let capacity = u64::try_from(len).map_err(|_| synStatus::synInvalidArgument)?;
        pointer::write_text(pPciBusId, capacity, &pci_address(card.module()))
    }

    fn synDeviceGetMemoryInfo(deviceId: synDeviceId, free: *mut u64, total: *mut u64) {
        let facts = facts_of_device(&*runtime()?, deviceId)?;
        pointer::write(free, facts.free_bytes)?;
        pointer::write(total, facts.total_bytes)
    }

    fn synDeviceGetInfo(deviceId: synDeviceId, pDeviceInfo: *mut synDeviceInfo) {
        let runtime = runtime()?;
        let facts = facts_of_device(&runtime, deviceId)?;
        pointer::write(pDeviceInfo, synDeviceInfo {
            sramBaseAddress: 0,
            dramBaseAddress: DRAM_BASE,
            sramSize: facts.sram_bytes(),
            dramSize: facts.total_bytes,
            tpcEnabledMask: facts.tpc_mask(),
            dramEnabled: 1,
            deviceId,
            fd: 0,
            deviceType: runtime.config.device_type(),
        })
    }

    fn synDeviceGetInfoV2(deviceId: synDeviceId, pDeviceInfo: *mut synDeviceInfoV2) {
        let runtime = runtime()?;
        let facts = facts_of_device(&runtime, deviceId)?;
        pointer::write(pDeviceInfo, synDeviceInfoV2 {
            sramBaseAddress: 0,
            dramBaseAddress: DRAM_BASE,
            sramSize: facts.sram_bytes(),
            dramSize: facts.total_bytes,
            tpcEnabledMask: facts.tpc_mask(),
            dramEnabled: 1,
            deviceId,
            fd: 0,
            deviceType: runtime.config.device_type(),
            deviceIndex: deviceId as u8,
            reserved: 0,
        })
    }

    fn synDeviceGetAttribute(
        retVal: *mut u64,
        deviceAttr: *const synDeviceAttribute,
        querySize: c_uint,
        deviceId: synDeviceId,
    ) {
        let facts = facts_of_device(&*runtime()?, deviceId)?;
        let attributes = pointer::list(deviceAttr, u64::from(querySize))?;
        pointer::write_list(retVal, &facts.attributes(&attributes)?)
    }

    /// Attributes of a card that need not be acquired.
    fn synDeviceGetAttributeByModuleId(
        retVal: *mut u64,
        deviceAttr: *const synDeviceAttribute,
        querySize: c_uint,
        moduleId: synModuleId,
    ) {
        let facts = facts_of_module(&*runtime()?, moduleId)?;
        let attributes = pointer::list(deviceAttr, u64::from(querySize))?;
        pointer::write_list(retVal, &facts.attributes(&attributes)?)
    }

    /// Attributes of a generation, whether it is the emulated one or not.
    fn synDeviceTypeGetAttribute(
        retVal: *mut u64,
        deviceAttr: *const synDeviceAttribute,
        querySize: c_uint,
        deviceType: synDeviceType,
    ) {
        let runtime = runtime()?;
        let total_bytes = runtime.config.memory_bytes;
        let generation = of_device_type(deviceType).ok_or(synStatus::synInvalidArgument)?;
        let facts = Facts { generation, total_bytes, free_bytes: total_bytes };
        let attributes = pointer::list(deviceAttr, u64::from(querySize))?;
        pointer::write_list(retVal, &facts.attributes(&attributes)?)
    }

    /// A bit for each affinity that a stream can have.
    fn synDeviceGetAffinityMaskRange(deviceId: synDeviceId, deviceAffinityMaskRange: *mut u64) {
        runtime()?.live_card(deviceId)?;
        pointer::write(deviceAffinityMaskRange, (1 << AFFINITIES) - 1)
    }

    fn synDeviceGetNextStreamAffinity(deviceId: synDeviceId, nextDeviceAffinity: *mut u64) {
        let card = runtime()?.live_card(deviceId)?;
        pointer::write(nextDeviceAffinity, card.next_affinity())
    }
}

fn acquire(runtime: &Runtime, module: Option<usize>, id: *mut synDeviceId) -> Outcome {
    if id.is_null() {
        return Err(synStatus::synInvalidArgument);
    }
    let device = runtime.acquire(module)?;
    // SAFETY: not null, and the caller of the API promises the room for an id.
    unsafe { pointer::write(id, device) }
}
